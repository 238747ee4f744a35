// OpenAI's own description of its API as the judge: what the codecs openai-chat and openai-responses send, and what /v1
// answers. The requests are those for api.openai.com itself: a server here has that name, behind a proxy and with a
// certificate of its own, so that the codecs speak as they do there.
//
// usage: run.sh openapi_check.mjs OPENAPI.json      MCPBX_BIN: the folder of the built programs
//   OPENAPI.json  openapi.json of github.com/openai/openai-openapi; it is not kept here (3 MB, and it changes weekly)
//
// Objects are closed: a member that the description does not name is a violation, because the API refuses unknown
// arguments. Ends with status 1 where a document violates it, and with 2 without the description.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { Daemon, node, packagePath } from './lib.mjs';

const description = process.argv[2];
if (!description || !fs.existsSync(description)) {
  console.error(`usage: run.sh openapi_check.mjs OPENAPI.json
  To get it: git clone --depth 1 https://github.com/openai/openai-openapi
  and give the absolute path of openapi.json in it.`);
  process.exit(2);
}

// ---- The description as a JSON Schema for ajv

const schemas = JSON.parse(fs.readFileSync(description, 'utf8')).components.schemas;
const isObject = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);
const parts = ['allOf', 'anyOf'];
// Members of clients of other servers that /v1 has besides, as docs/protocol.md says.
const ours = { ChatCompletionStreamResponseDelta: { reasoning_content: { type: 'string' } } };

// `whole`: the schema judges a value alone, not beside others of an allOf; only then unknown members can be told.
function adapt(s, whole) {
  if (!isObject(s)) return s;
  const { nullable, oneOf, discriminator, default: unused, ...rest } = s;
  const out = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties' || key === 'patternProperties' || key === '$defs')
      out[key] = Object.fromEntries(Object.entries(value).map(([name, v]) => [name, adapt(v, true)]));
    else if (key === 'items' || key === 'additionalProperties') out[key] = adapt(value, true);
    else if (parts.includes(key)) out[key] = value.map((v) => adapt(v, false));
    else if (key !== '$recursiveRef' && key !== '$recursiveAnchor' && !key.startsWith('x-')) out[key] = value;
  }
  // Alternatives of the description overlap (EasyInputMessage and InputMessage), so that "exactly one" cannot be meant.
  if (oneOf) {
    const any = oneOf.map((v) => adapt(v, false));
    if (out.anyOf) out.allOf = [...(out.allOf ?? []), { anyOf: any }];
    else out.anyOf = any;
  }
  const composed = out.$ref || out.allOf || out.anyOf;
  if (!composed && !out.properties && out.additionalProperties === undefined) out.additionalProperties = true;
  if (whole && (composed || out.properties) && out.additionalProperties === undefined) out.unevaluatedProperties = false;
  // As OpenAPI 3.0 had it; the description has some of it left.
  return nullable ? { anyOf: [out, { type: 'null' }] } : out;
}

for (const [name, members] of Object.entries(ours)) Object.assign(schemas[name].properties, members);
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
ajv.addFormat('uri', (text) => URL.canParse(text));
ajv.addFormat('unixtime', { type: 'number', validate: Number.isInteger });
for (const format of ['date', 'binary', 'byte', 'email', 'uuid', 'int64', 'int32', 'date-time', 'double', 'float']) ajv.addFormat(format, true);
ajv.addSchema({ $id: 'openai', components: { schemas: Object.fromEntries(Object.entries(schemas).map(([name, s]) => [name, adapt(s, false)])) } });
const judges = new Map();
function judge(name) {
  if (!judges.has(name)) judges.set(name, ajv.compile({ $ref: `openai#/components/schemas/${name}`, unevaluatedProperties: false }));
  return judges.get(name);
}

// A judge that takes everything proves nothing: each of these lacks one thing, or has one too many.
const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }, said = [{ role: 'user', content: 'x' }];
const chunkOf = (delta, more) => ({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
for (const [name, good, ...bad] of [
  ['CreateChatCompletionRequest', { model: 'm', messages: said }, { model: 'm' }, { model: 'm', messages: said, more: 1 }, { model: 'm', messages: [{ ...said[0], more: 1 }] },
    { model: 'm', messages: said, tools: [{ type: 'function', function: { name: 'f', more: 1 } }] }, { model: 'm', messages: [{ role: 'tool', content: 'x' }] },
    { model: 'm', messages: [{ role: 'assistant', content: null, tool_calls: [{ ...call, index: 0 }] }] }, { model: 'm', messages: said, stream_options: { more: 1 } },
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }] }, { model: 'm', messages: said, response_format: { type: 'json_schema' } }],
  ['CreateResponse', { model: 'm', input: said }, { model: 'm', input: said, stop: 'x' }, { model: 'm', input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: {} }] },
    { model: 'm', input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }] }, { model: 'm', input: said, tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['CreateChatCompletionStreamResponse', chunkOf({ content: 'x' }), chunkOf({ content: 1 }), chunkOf({ more: 1 }), chunkOf({}, { finish_reason: 'done' }), chunkOf({ tool_calls: [call] })],
  ['ErrorResponse', { error: { message: 'x', type: 'x', param: null, code: null } }, { error: { message: 'x', type: 'x', param: null } }, { error: 'x' }],
  ['Model', { id: 'a', object: 'model', created: 1, owned_by: 'x' }, { id: 'a', object: 'model', created: 1 }, { id: 'a', object: 'model', created: 1.5, owned_by: 'x' }],
]) {
  assert.ok(judge(name)(good), `${name} refuses ${JSON.stringify(good)}: ${ajv.errorsText(judge(name).errors)}`);
  for (const document of bad) assert.ok(!judge(name)(document), `${name} takes ${JSON.stringify(document)}`);
}

// ---- What was checked

const checked = new Map();
const violations = [];
function check(name, document, where) {
  checked.set(name, (checked.get(name) ?? 0) + 1);
  const valid = judge(name);
  if (valid(document)) return;
  // Of all alternatives that do not fit, the words about what lies deepest say the most.
  const depth = (e) => e.instancePath.split('/').length;
  const deepest = Math.max(...valid.errors.map(depth));
  const words = new Set(valid.errors.filter((e) => depth(e) === deepest)
    .map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`));
  violations.push(`${name}, ${where}\n    ${[...words].slice(0, 6).join('\n    ')}\n    in ${JSON.stringify(document).slice(0, 400)}`);
}
// Facts that a description cannot tell, and that clients rely on.
function hold(holds, where, what) {
  if (!holds) violations.push(`${where}: ${what}`);
}

// ---- The model: what it says is told by the user's words and by how many of its turns the conversation has

const calc = (expression) => ({ name: 'calc__calculate', arguments: JSON.stringify({ expression }) });
const weather = (city) => ({ name: 'get_weather', arguments: JSON.stringify({ city }) });
const picture = { name: 'all__get-tiny-image', arguments: '{}' };
const scripts = {
  'plain words': [{ text: 'Hello, world.' }],
  'one sum': [{ text: 'Let me see.', calls: [calc('6*7')] }, { text: 'It is 42.' }],
  'three rounds': [{ calls: [calc('1+1')] }, { thought: 'And once more.', calls: [calc('2+2')] }, { text: 'Nearly.', calls: [calc('3+3')] }, { text: '2, 4, 6.' }],
  'many sums': [{ thought: 'All at once.', calls: [calc('1+2'), calc('3+4'), calc('5+6')] }, { text: '3, 7, 11.' }],
  'bad calls': [{ calls: [calc(7), { name: 'calc__calculate', arguments: '{"expression": ' }, { name: 'no_such_tool', arguments: '{}' }] }, { text: 'I give up.' }],
  'a picture': [{ calls: [picture, calc('1+1')] }, { text: 'A picture.' }],
  'the weather': [{ thought: 'Who knows?', text: 'I ask.', calls: [weather('Oslo'), weather('Rome')] }, { text: 'Cold and warm.' }],
  'both sides': [{ calls: [calc('1+1'), weather('Oslo')] }, { calls: [weather('Rome')] }, { text: 'Cold, warm, 2.' }],
  'as json': [{ calls: [calc('6*7')] }, { text: '{"answer":42}' }],
  'never ends': Array.from({ length: 9 }, (_, i) => ({ calls: [calc(`${i}+${i}`)] })),
  'too long': [{ text: 'This is cut', finish: 'length' }],
  'say no': [{ refusal: 'I cannot say that.' }],
  'forbidden': [{ text: 'Half a', finish: 'content_filter' }],
  'breaks off': [{ text: 'This never comes to its', finish: 'cut' }],
  'breaks at once': [{ finish: 'cut' }],
  'fails inside': [{ text: 'This fails.', finish: 'error' }],
  'no credit': [{ status: 429, error: { message: 'You exceeded your current quota.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } }],
  'too busy': [{ status: 503, error: { message: 'The engine is overloaded.', type: 'server_error', param: null, code: null } }],
  'wrong key': [{ status: 401, error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }],
  'too much': [{ status: 400, error: { message: 'This model has a maximum context length of 10 tokens.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } }],
};

function turnOf(body) {
  const items = body.messages ?? body.input;
  const last = items.findLastIndex((m) => m.role === 'user' && Object.keys(scripts).some((words) => JSON.stringify(m.content).includes(words)));
  if (last < 0) return { text: 'What was asked?' };
  const said = JSON.stringify(items[last].content);
  const script = scripts[Object.keys(scripts).find((words) => said.includes(words))];
  // A turn of Responses is one item or several: those behind each other, and before what answers them.
  const turns = items.slice(last + 1).filter((m, i, all) => isTurn(m) && !isTurn(all[i - 1])).length;
  return script[turns] ?? { text: 'Nothing more.' };
}
const isTurn = (m) => m?.role === 'assistant' || ['function_call', 'reasoning'].includes(m?.type);

let ids = 0;
function chatEvents(turn) {
  const id = `chatcmpl-${++ids}`, more = { id, object: 'chat.completion.chunk', created: 1790000000, model: 'gpt-5-2026', service_tier: 'default', system_fingerprint: 'fp_1', obfuscation: 'xyz' };
  const chunk = (delta, finish_reason = null) => ({ ...more, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null });
  const events = [chunk({ role: 'assistant', content: turn.calls && !turn.text ? null : '', refusal: null })];
  for (const piece of turn.text?.match(/.{1,5}/gs) ?? []) events.push(chunk({ content: piece }));
  for (const piece of turn.refusal?.match(/.{1,5}/gs) ?? []) events.push(chunk({ refusal: piece }));
  turn.calls?.forEach((c, index) => {
    events.push(chunk({ tool_calls: [{ index, id: `call_${++ids}`, type: 'function', function: { name: c.name, arguments: '' } }] }));
    for (const piece of c.arguments.match(/.{1,7}/gs) ?? []) events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  if (turn.finish === 'cut') return { events, end: 'cut' };
  if (turn.finish === 'error') return { events: [...events, { error: { message: 'The server had an error.', type: 'server_error', param: null, code: null } }] };
  events.push(chunk({}, turn.finish ?? (turn.calls ? 'tool_calls' : 'stop')));
  events.push({ ...more, choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 } } });
  return { events, end: 'data: [DONE]\n\n' };
}
function responsesEvents(turn) {
  const events = [], output = [];
  let sequence_number = 0;
  const event = (type, more) => events.push({ type, sequence_number: sequence_number++, ...more });
  const response = { id: `resp_${++ids}`, object: 'response', created_at: 1790000000, status: 'in_progress', model: 'gpt-5-2026', output: [], error: null, incomplete_details: null,
    instructions: null, metadata: {}, parallel_tool_calls: true, temperature: 1, tool_choice: 'auto', tools: [], top_p: 1 };
  event('response.created', { response });
  event('response.in_progress', { response });
  const item = (begun, deltas, whole) => {
    const output_index = output.length;
    event('response.output_item.added', { output_index, item: begun });
    deltas({ output_index, item_id: begun.id });
    event('response.output_item.done', { output_index, item: whole });
    output.push(whole);
  };
  if (turn.thought) {
    const it = { id: `rs_${++ids}`, type: 'reasoning', summary: [] };
    item({ ...it, encrypted_content: '' }, (at) => {
      event('response.reasoning_summary_part.added', { ...at, summary_index: 0, part: { type: 'summary_text', text: '' } });
      event('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: turn.thought });
      event('response.reasoning_summary_text.done', { ...at, summary_index: 0, text: turn.thought });
      event('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: { type: 'summary_text', text: turn.thought } });
    }, { ...it, summary: [{ type: 'summary_text', text: turn.thought }], encrypted_content: 'gAAAAAbcdef==' });
  }
  for (const [kind, text] of [['output_text', turn.text], ['refusal', turn.refusal]]) {
    if (!text) continue;
    const it = { id: `msg_${++ids}`, type: 'message', role: 'assistant', phase: turn.calls ? 'commentary' : 'final_answer' };
    const part = (said) => kind === 'refusal' ? { type: kind, refusal: said } : { type: kind, text: said, annotations: [], logprobs: [] };
    const cut = turn.finish && turn.finish !== 'error';
    item({ ...it, status: 'in_progress', content: [] }, (at) => {
      event('response.content_part.added', { ...at, content_index: 0, part: part('') });
      for (const delta of text.match(/.{1,5}/gs)) event(`response.${kind}.delta`, { ...at, content_index: 0, delta, logprobs: [] });
      event(`response.${kind}.done`, { ...at, content_index: 0, [kind === 'refusal' ? 'refusal' : 'text']: text, logprobs: [] });
      event('response.content_part.done', { ...at, content_index: 0, part: part(text) });
    }, { ...it, status: cut ? 'incomplete' : 'completed', content: [part(text)] });
  }
  for (const c of turn.calls ?? []) {
    const it = { id: `fc_${++ids}`, type: 'function_call', call_id: `call_${ids}`, name: c.name };
    item({ ...it, status: 'in_progress', arguments: '' }, (at) => {
      for (const delta of c.arguments.match(/.{1,7}/gs) ?? []) event('response.function_call_arguments.delta', { ...at, delta });
      event('response.function_call_arguments.done', { ...at, name: c.name, arguments: c.arguments });
    }, { ...it, status: 'completed', arguments: c.arguments });
  }
  if (turn.finish === 'cut') return { events, end: 'cut' };
  if (turn.finish === 'error') {
    event('response.failed', { response: { ...response, status: 'failed', output, error: { code: 'server_error', message: 'The server had an error.' } } });
    return { events };
  }
  const usage = { input_tokens: 20, input_tokens_details: { cached_tokens: 3 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 1 }, total_tokens: 25 };
  if (turn.finish)
    event('response.incomplete', { response: { ...response, status: 'incomplete', output, usage, incomplete_details: { reason: turn.finish === 'length' ? 'max_output_tokens' : turn.finish } } });
  else
    event('response.completed', { response: { ...response, status: 'completed', output, usage } });
  return { events };
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-openapi-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
const certificate = path.join(folder, 'server.pem'), key = path.join(folder, 'server.key');
execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=api.openai.com',
  '-addext', 'subjectAltName=DNS:api.openai.com', '-keyout', key, '-out', certificate], { stdio: 'ignore' });

let scenario = '';
const requests = { chat: 0, responses: 0 };
function serve(req, res) {
  let text = '';
  req.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', () => {
    const responses = req.url === '/v1/responses';
    hold(responses || req.url === '/v1/chat/completions', scenario, `a request went to ${req.method} ${req.url}`);
    const body = JSON.parse(text);
    ++requests[responses ? 'responses' : 'chat'];
    check(responses ? 'CreateResponse' : 'CreateChatCompletionRequest', body, `sent for "${scenario}"`);
    const turn = turnOf(body);
    if (turn.status) {
      res.writeHead(turn.status, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ error: turn.error }));
    }
    const { events, end } = responses ? responsesEvents(turn) : chatEvents(turn);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const e of events) res.write(`${responses && e.type ? `event: ${e.type}\n` : ''}data: ${JSON.stringify(e)}\n\n`);
    if (end === 'cut') return setTimeout(() => res.destroy(), 50);
    res.end(end);
  });
}
const listening = (server) => new Promise((ok) => server.listen(0, '127.0.0.1', () => ok(server.address().port)));
const tlsPort = await listening(https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) }, serve));
const plainPort = await listening(http.createServer(serve));
const proxyPort = await listening(http.createServer().on('connect', (req, link) => {
  assert.equal(req.url, 'api.openai.com:443');
  const on = net.connect(tlsPort, '127.0.0.1', () => link.write('HTTP/1.1 200 OK\r\n\r\n'));
  for (const end of [on, link]) end.on('error', () => {});
  on.pipe(link).pipe(on);
}));

// ---- mcpbx between the two

const real = { apiKey: 'sk-0123456789', caFile: certificate, maxRetries: 0 };
const d = await Daemon.start({
  mcpServers: { calc: { command: 'mcpbx-toolbox' }, all: { command: node, args: [packagePath('@modelcontextprotocol/server-everything/dist/index.js')] } },
  models: {
    chat: { ...real, api: 'openai-chat', model: 'gpt-4o' },
    thinking: { ...real, api: 'openai-chat', model: 'o4-mini' },
    responses: { ...real, api: 'openai-responses', model: 'gpt-5' },
    strict: { ...real, api: 'openai-chat', model: 'gpt-4o', dialect: { strict: true, parallelToolCalls: false, systemRole: 'developer' }, system: 'Be brief.', temperature: 0.5, topP: 0.9, maxTokens: 500 },
    strictResponses: { ...real, api: 'openai-responses', model: 'gpt-5', dialect: { strict: true, parallelToolCalls: true }, system: 'Be brief.', maxTokens: 500 },
    copy: { api: 'openai-chat', model: 'a-copy', baseUrl: `http://127.0.0.1:${plainPort}/v1`, maxRetries: 0 },
  },
  profiles: Object.fromEntries(['chat', 'responses'].map((model) => [`short-${model}`, { model, loop: { maxRounds: 2 } }])),
  http: { address: '127.0.0.1:0' },
  limits: { maxMessageBytes: 4 << 20 },
}, { env: { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`, PATH: `${process.env.MCPBX_BIN}:${process.env.PATH}` } });
await d.ready();
const { http: door, tokenFile } = JSON.parse((await d.mcpbx('--json', 'status')).stdout);
const authorization = `Bearer ${fs.readFileSync(tokenFile, 'utf8').trim()}`;

const json = { authorization, 'content-type': 'application/json' };
// One exchange with our door, every document of it checked; gives the whole answer, or undefined for an error.
async function ask(name, body, { refused = false, status } = {}) {
  scenario = name;
  if (!refused) check('CreateChatCompletionRequest', body, `asked for "${name}"`);
  const r = await fetch(`${door}/v1/chat/completions`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  return answered(name, r, body, status);
}
async function answered(name, r, body, status) {
  const text = await r.text(), where = `answered to "${name}"`;
  if (status) hold(r.status === status, where, `the status is ${r.status}: ${text.slice(0, 300)}`);
  if (r.status !== 200) {
    hold(r.headers.get('content-type') === 'application/json', where, `an error is ${r.headers.get('content-type')}`);
    check('ErrorResponse', JSON.parse(text), where);
    return undefined;
  }
  if (!body.stream) {
    const whole = JSON.parse(text);
    check('CreateChatCompletionResponse', whole, where);
    return whole.choices[0];
  }
  hold(r.headers.get('content-type').startsWith('text/event-stream'), where, 'a stream is no event stream');
  const frames = text.split('\n\n').filter(Boolean).map((f) => f.replace(/^data: /, ''));
  const done = frames.at(-1) === '[DONE]';
  const chunks = (done ? frames.slice(0, -1) : frames).map((f) => JSON.parse(f));
  if (!done) {
    check('ErrorResponse', chunks.pop() ?? null, `the end of the stream ${where}`);
  } else {
    hold(chunks.filter((c) => c.choices[0]?.finish_reason).length === 1, where, 'not one finish_reason');
    const usage = body.stream_options?.include_usage;
    hold(Boolean(chunks.at(-1).usage) === Boolean(usage), where, 'usage where it was not asked for, or none');
  }
  hold(new Set(chunks.map((c) => `${c.id} ${c.created} ${c.model}`)).size <= 1, where, 'the chunks are of several answers');
  for (const c of chunks) check('CreateChatCompletionStreamResponse', c, where);
  if (!done) return undefined;
  const message = { role: 'assistant', content: chunks.map((c) => c.choices[0]?.delta.content ?? '').join('') };
  const calls = chunks.flatMap((c) => c.choices[0]?.delta.tool_calls ?? []).map(({ index, ...call }) => call);
  return { message: calls.length ? { ...message, tool_calls: calls } : message, finish_reason: chunks.findLast((c) => c.choices[0]).choices[0].finish_reason };
}

const cityTool = { type: 'function', function: { name: 'get_weather', description: 'The weather in a city.', strict: true, parameters: {
  type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } } };
const answerFormat = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: {
  type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'], additionalProperties: false } } };
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const manyParts = (words) => [{ type: 'text', text: words }, { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
  { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }, { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
  { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }];
const history = [
  { role: 'developer', content: 'Be brief.' }, { role: 'system', content: [{ type: 'text', text: 'And kind.' }] }, { role: 'user', content: 'Which weather?', name: 'Ada' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
    { id: `call_${'long'.repeat(20)}`, type: 'function', function: { name: 'get_weather', arguments: '{"city":' } }] },
  { role: 'tool', tool_call_id: 'call_a', content: 'cold' }, { role: 'tool', tool_call_id: `call_${'long'.repeat(20)}`, content: [{ type: 'text', text: '' }] },
  { role: 'assistant', content: [{ type: 'text', text: 'Cold.' }] }, { role: 'user', content: 'And?' }, { role: 'assistant', content: null, refusal: 'No.' },
  { role: 'user', content: '' }, { role: 'assistant', content: '' },
];

for (const model of ['chat', 'thinking', 'responses', 'strict', 'strictResponses', 'copy']) {
  for (const stream of [false, true]) {
    const send = (words, more = {}, how) => ask(`${words} (${model}${stream ? ', streamed' : ''})`,
      { model, stream, ...(stream ? { stream_options: { include_usage: words.length % 2 === 0 } } : {}), messages: [{ role: 'user', content: words }], ...more }, how);
    const tools = [cityTool];
    for (const words of ['plain words', 'one sum', 'three rounds', 'many sums', 'bad calls', 'a picture', 'too long', 'say no', 'forbidden'])
      hold(await send(words), words, 'no answer');
    for (const words of ['breaks off', 'breaks at once', 'fails inside', 'no credit', 'too busy', 'wrong key', 'too much']) hold(!await send(words), words, 'an answer');
    // The caller's tools, to the end.
    for (const words of ['the weather', 'both sides']) {
      const messages = [{ role: 'user', content: words }];
      for (let rounds = 0; ; ++rounds) {
        const got = await send(words, { messages, tools });
        if (got?.finish_reason !== 'tool_calls') { hold(got && rounds > 0, words, 'the caller\'s tools were not called'); break; }
        const { annotations, ...message } = got.message;
        messages.push(message, ...message.tool_calls.map((c) => ({ role: 'tool', tool_call_id: c.id, content: 'some weather' })));
      }
    }
    await send('what was before', { messages: [...history, { role: 'user', content: manyParts('plain words') }], tools });
    await send('what was before, and a sum', { messages: [...history, { role: 'user', content: manyParts('one sum') }] });
    for (const response_format of [answerFormat, { type: 'json_object' }, { type: 'text' }]) await send('as json', { response_format });
    for (const tool_choice of ['auto', 'none', 'required', { type: 'function', function: { name: 'get_weather' } },
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] } }])
      await send('one sum', { tools, tool_choice });
    for (const more of [{ temperature: 0.25, top_p: 0.5 }, { temperature: 2, top_p: 1 }, { stop: 'END' }, { stop: ['a', 'b', 'c', 'd'] }, { stop: null, temperature: null },
      { max_completion_tokens: 100 }, { max_tokens: 100 }, { max_completion_tokens: 5 }, { parallel_tool_calls: false }, { parallel_tool_calls: true, tool_choice: 'none' },
      ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((reasoning_effort) => ({ reasoning_effort }))]) await send('one sum', more);
    if (model === 'chat' || model === 'responses') await ask(`never ends (${model})`, { model: `profile:short-${model}`, stream, messages: [{ role: 'user', content: 'never ends' }] });
  }
}

// Requests that are refused.
const one = { model: 'chat', messages: [{ role: 'user', content: 'plain words' }] };
for (const [name, body, status] of [
  ['n is 2', { ...one, n: 2 }, 400], ['no messages', { model: 'chat' }, 400], ['no message', { model: 'chat', messages: [] }, 400], ['an unknown model', { ...one, model: 'none' }, 404],
  ['a wrong temperature', { ...one, temperature: 'hot' }, 400], ['functions', { ...one, functions: [{ name: 'f' }] }, 400], ['a wrong role', { ...one, messages: [{ role: 'x' }] }, 400],
  ['a file by its id', { ...one, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }, 400], ['five stops', { ...one, stop: ['a', 'b', 'c', 'd', 'e'] }, 400],
  ['a list', [], 400], ['a bad tool', { ...one, tools: [{ type: 'function', function: { name: 'a b' } }] }, 400], ['a wrong choice', { ...one, tool_choice: 'any' }, 400],
  ['a bad format', { ...one, response_format: { type: 'json_schema' } }, 400],
]) for (const stream of [false, true]) hold(!await ask(name, Array.isArray(body) ? body : { ...body, stream }, { refused: true, status }), name, 'it was taken');
const plain = async (name, status, url, init) => answered(name, await fetch(door + url, init), {}, status);
const post = (headers, body = '{}') => ({ method: 'POST', headers: { ...json, ...headers }, body });
await plain('bad JSON', 400, '/v1/chat/completions', post({}, '{"model": '));
await plain('no token', 401, '/v1/chat/completions', post({ authorization: '' }));
await plain('a wrong token', 401, '/v1/models', { headers: { authorization: 'Bearer x' } });
await plain('another origin', 403, '/v1/models', { headers: { authorization, origin: 'https://evil.example' } });
await plain('an unknown path', 404, '/v1/completions', post({}));
await plain('a wrong method', 405, '/v1/chat/completions', { headers: { authorization } });
await plain('a form', 415, '/v1/chat/completions', post({ 'content-type': 'text/plain' }));
await plain('too large a body', 413, '/v1/chat/completions', post({}, `{"x":"${'x'.repeat(5 << 20)}"}`)).catch((e) => hold(e.cause?.code, 'too large a body', `${e}`));
await plain('too many headers', 431, '/v1/models', { headers: { authorization, 'x-more': 'x'.repeat(15_000), 'x-again': 'x'.repeat(15_000) } });
await plain('no such model', 404, '/v1/models/none', { headers: { authorization } });
// A request that is no HTTP.
await new Promise((ok) => {
  let text = '';
  net.connect(Number(new URL(door).port), '127.0.0.1', function () { this.write('GET / \r\nx\r\n\r\n'); })
    .setEncoding('utf8').on('data', (data) => { text += data; }).on('error', ok).on('close', () => {
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      try { check('ErrorResponse', JSON.parse(body), 'answered to a request that is no HTTP'); } catch { hold(false, 'a request that is no HTTP', text); }
      ok();
    });
});

// The list of all there is.
const list = await (await fetch(`${door}/v1/models`, { headers: { authorization } })).json();
check('ListModelsResponse', list, 'GET /v1/models');
for (const { id } of list.data)
  check('Model', await (await fetch(`${door}/v1/models/${encodeURIComponent(id)}`, { headers: { authorization } })).json(), `GET /v1/models/${id}`);

await d.stop();
hold(requests.chat > 100 && requests.responses > 100, 'the requests', `only ${JSON.stringify(requests)}`);
for (const [i, text] of violations.slice(0, 12).entries()) console.error(`${i + 1}. ${text}`);
for (const [name, count] of checked) console.log(`${name}: ${count}`);
console.log(`openapi_check: ${[...checked.values()].reduce((a, b) => a + b, 0)} documents, ${violations.length} violations`);
process.exit(violations.length === 0 ? 0 : 1);
