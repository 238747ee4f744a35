// Programs that speak OpenAI's Chat Completions, against /v1: the official client and Vercel's AI SDK, over a TCP port and
// over the socket. Behind mcpbx stands a model endpoint from elsewhere (aimock), so that what they get is a model's.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { Agent, fetch as undiciFetch } from 'undici';
import { Daemon, checks } from './lib.mjs';

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
const compute = (expression, more = {}) => ({ name: 'calc__calculate', arguments: JSON.stringify({ expression }), ...more });
const weather = (city) => ({ name: 'get_weather', arguments: JSON.stringify({ city }) });
// Each response in its turn, told by the results that the request has.
const turns = (userMessage, ...responses) => {
  const results = [0];
  for (const r of responses) results.push(results.at(-1) + (r.toolCalls?.length ?? 0));
  mock.addFixture({ match: { userMessage }, response: (request) => {
    const have = request.messages.filter((m) => m.role === 'tool').length;
    return responses[results.indexOf(have)] ?? { error: { message: `no turn has ${have} results` }, status: 400 };
  } });
};
turns('compute for me', { content: 'Let me see.', toolCalls: [compute('6*7')] }, { content: 'It is 42.' });
turns('weather and sums', { toolCalls: [compute('1+1'), weather('Oslo'), weather('Rome')] }, { content: 'Cold, warm, and 2.' });
turns('only the weather', { toolCalls: [weather('Oslo')] }, { toolCalls: [weather('Rome')] }, { content: 'Cold, then warm.' });
mock.addFixture({ match: { userMessage: 'as json' }, response: { content: '{"answer":42}' } });
mock.addFixture({ match: { userMessage: 'the line breaks' }, response: { content: 'This answer never comes to its end.' }, chunkSize: 4, latency: 20, truncateAfterChunks: 3 });
mock.addFixture({ match: { userMessage: 'long story' }, response: { content: 'word '.repeat(2000) }, chunkSize: 5, latency: 20 });
mock.addFixture({ match: { userMessage: 'go away' }, response: { error: { message: 'no credit left', type: 'insufficient_quota', code: 'insufficient_quota' }, status: 429 } });
await mock.start();
const url = mock.url ?? `http://127.0.0.1:${mock.port}`;

const d = await Daemon.start({
  mcpServers: { calc: { command: 'mcpbx-toolbox' } },
  models: { gpt: { api: 'openai-chat', baseUrl: `${url}/v1`, model: 'gpt-mock', apiKey: 'mock-key-0123456789' } },
  profiles: { short: { model: 'gpt', loop: { maxRounds: 2 } } },
  http: { address: '127.0.0.1:0' },
});
await d.ready();
const status = async () => JSON.parse((await d.mcpbx('--json', 'status')).stdout);
const { http, tokenFile } = await status();
assert.equal(tokenFile, path.join(d.folder, 'token'));
assert.equal(fs.statSync(tokenFile).mode & 0o777, 0o600);
const apiKey = fs.readFileSync(tokenFile, 'utf8').trim();
const agent = new Agent({ connect: { socketPath: d.socket } });
const overSocket = (input, init) => undiciFetch(input, { ...init, dispatcher: agent });

const ways = {
  'a port': { baseURL: `${http}/v1`, apiKey },
  'the socket': { baseURL: 'http://localhost/v1', apiKey: 'none', fetch: overSocket },
};
const getWeather = { type: 'function', function: { name: 'get_weather', description: 'The weather in a city.', parameters: {
  type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } } };
const asked = (content, more = {}) => ({ model: 'gpt', messages: [{ role: 'user', content }], ...more });
const upstream = (text) => mock.getRequests().map((r) => r.body).filter((b) => JSON.stringify(b.messages).includes(text));

// Every chunk of a stream, checked as that API has them.
async function chunksOf(stream) {
  const chunks = [];
  for await (const c of stream) chunks.push(c);
  assert.equal(new Set(chunks.map((c) => `${c.id} ${c.model} ${c.object} ${c.created}`)).size, 1);
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
  assert.equal(chunks.filter((c) => c.choices[0]?.finish_reason).length, 1);
  return chunks;
}
const textOf = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? '').join('');
const until = async (what, holds) => {
  for (let i = 0; !(await holds()); ++i) {
    assert.ok(i < 600, `never: ${what}`);
    await new Promise((ok) => setTimeout(ok, 50));
  }
};

const list = {};
for (const [way, options] of Object.entries(ways)) {
  const client = new OpenAI({ ...options, maxRetries: 0 });
  const ai = createOpenAICompatible({ name: 'mcpbx', ...options, includeUsage: true })('gpt');
  const check = (name, f) => { list[`${name} (${way})`] = f; };

  check('D2: models and profiles are listed, and found by name', async () => {
    const names = [];
    for await (const m of client.models.list()) names.push(m.id);
    assert.ok(names.includes('gpt') && names.at(-1) === 'profile:short', names.join());
    assert.equal((await client.models.retrieve('profile:short')).object, 'model');
    await assert.rejects(client.models.retrieve('none'), OpenAI.NotFoundError);
  });
  check('D2: a tool of mcpbx runs inside, and the answer has the text of all rounds', async () => {
    const r = await client.chat.completions.create(asked('compute for me'));
    assert.equal(r.object, 'chat.completion');
    assert.deepEqual([r.choices.length, r.choices[0].finish_reason, r.choices[0].message.refusal], [1, 'stop', null]);
    assert.equal(r.choices[0].message.content, 'Let me see.\n\nIt is 42.');
    assert.equal(r.choices[0].message.tool_calls, undefined);
    assert.ok(r.usage.prompt_tokens > 0 && r.usage.total_tokens === r.usage.prompt_tokens + r.usage.completion_tokens);
  });
  check('D2: a stream has all rounds, one finish, and tokens only where they were asked for', async () => {
    const chunks = await chunksOf(await client.chat.completions.create(asked('compute for me', { stream: true, stream_options: { include_usage: true } })));
    assert.equal(textOf(chunks), 'Let me see.\n\nIt is 42.');
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.completion_tokens > 0);
    const plain = await chunksOf(await client.chat.completions.create(asked('compute for me', { stream: true })));
    assert.ok(plain.every((c) => c.usage == null));
  });
  check("L21: the caller's calls are handed back when ours are done, and its results go on with the same run", async () => {
    const body = asked('weather and sums', { tools: [getWeather] });
    const before = (await status()).runs.total;
    const first = (await client.chat.completions.create(body)).choices[0];
    assert.equal(first.finish_reason, 'tool_calls');
    assert.deepEqual(first.message.tool_calls.map((c) => [c.type, c.function.name, c.function.arguments]),
      [['function', 'get_weather', '{"city":"Oslo"}'], ['function', 'get_weather', '{"city":"Rome"}']]);
    const messages = [...body.messages, first.message, ...first.message.tool_calls.map((c, i) => ({ role: 'tool', tool_call_id: c.id, content: ['cold', 'warm'][i] }))];
    const second = (await client.chat.completions.create({ ...body, messages })).choices[0];
    assert.deepEqual([second.finish_reason, second.message.content], ['stop', 'Cold, warm, and 2.']);
    assert.equal((await status()).runs.total, before + 1);
    // Our own call of that turn is there too, with its result, in the place that it had.
    const last = upstream('weather and sums').at(-1).messages.filter((m) => m.role === 'tool').map((m) => m.content);
    assert.deepEqual(last, ['2', 'cold', 'warm']);
  });
  check('L21: the official tool runner comes to the end, streamed and not', async () => {
    for (const stream of [false, true]) {
      const cities = [];
      const runner = client.chat.completions.runTools(asked('only the weather', { stream, tools: [{ type: 'function', function: {
        ...getWeather.function, parse: JSON.parse, function: ({ city }) => { cities.push(city); return 'some weather'; } } }] }));
      assert.equal(await runner.finalContent(), 'Cold, then warm.');
      assert.deepEqual(cities, ['Oslo', 'Rome']);
    }
  });
  check('D2: tool_choice required binds the first round only, none offers no tool', async () => {
    mock.clearRequests();
    await client.chat.completions.create(asked('compute for me', { tool_choice: 'required' }));
    assert.deepEqual(upstream('compute for me').map((b) => b.tool_choice), ['required', undefined]);
    mock.clearRequests();
    await client.chat.completions.create(asked('compute for me', { tool_choice: 'none', tools: [getWeather] }));
    assert.ok(upstream('compute for me').every((b) => !b.tools));
  });
  check('D2: what the request says about sampling reaches the model', async () => {
    mock.clearRequests();
    await client.chat.completions.create(asked('compute for me', { temperature: 0.25, top_p: 0.5, max_completion_tokens: 77, stop: ['END'], parallel_tool_calls: false }));
    for (const b of upstream('compute for me'))
      assert.deepEqual([b.temperature, b.top_p, b.max_tokens ?? b.max_completion_tokens, b.stop, b.parallel_tool_calls], [0.25, 0.5, 77, ['END'], false]);
  });
  check('L23: a structured answer is read by the client', async () => {
    const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'], additionalProperties: false };
    const format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
    const r = await client.chat.completions.parse(asked('as json', { response_format: format }));
    assert.equal(r.choices[0].message.content, '{"answer":42}');
    const chunks = await chunksOf(await client.chat.completions.create(asked('as json', { stream: true, response_format: format })));
    assert.deepEqual(JSON.parse(textOf(chunks)), { answer: 42 });
  });
  check('D2: images and names of parts are taken; what is wrong is told with its place', async () => {
    const parts = [{ type: 'text', text: 'compute for me' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    assert.equal((await client.chat.completions.create(asked(parts))).choices[0].finish_reason, 'stop');
    const wrong = async (body, kind, param) => {
      const e = await client.chat.completions.create(body).then(() => assert.fail('it was taken'), (thrown) => thrown);
      assert.ok(e instanceof kind, `${e}`);
      assert.equal(e.param, param);
      assert.ok(e.message.length > 20 && e.type, JSON.stringify(e));
    };
    await wrong(asked('x', { model: 'none' }), OpenAI.NotFoundError, 'model');
    await wrong({ model: 'gpt', messages: [] }, OpenAI.BadRequestError, 'messages');
    await wrong(asked([{ type: 'video' }]), OpenAI.BadRequestError, 'messages[0].content[0].type');
    await wrong(asked('x', { n: 2 }), OpenAI.BadRequestError, 'n');
  });
  check('D2: an answer that breaks off is an error in the stream and without one', async () => {
    await assert.rejects(client.chat.completions.create(asked('the line breaks')), OpenAI.APIError);
    const stream = await client.chat.completions.create(asked('the line breaks', { stream: true }));
    let text = '';
    await assert.rejects(async () => { for await (const c of stream) text += c.choices[0]?.delta.content ?? ''; }, OpenAI.APIError);
    assert.ok(text.length > 0 && 'This answer never comes to its end.'.startsWith(text));
    await assert.rejects(client.chat.completions.create(asked('go away', { stream: true })), (e) => e instanceof OpenAI.APIError && e.status >= 500);
  });
  check('L18: a client that leaves in the middle of a stream ends the run and the request to the model', async () => {
    const cancelled = async () => (await status()).runs.stops.cancelled ?? 0;
    const before = await cancelled();
    const stream = await client.chat.completions.create(asked('long story', { stream: true }));
    for await (const c of stream) if (c.choices[0]?.delta.content) break;
    await until('the run is cancelled', async () => (await cancelled()) === before + 1 && (await status()).runs.active === 0);
  });
  check('D2: the AI SDK generates and streams, with tools of both sides', async () => {
    const tools = { get_weather: tool({ description: 'The weather in a city.', inputSchema: jsonSchema(getWeather.function.parameters), execute: async () => 'some weather' }) };
    const r = await generateText({ model: ai, prompt: 'weather and sums', tools, stopWhen: stepCountIs(5), maxRetries: 0 });
    assert.deepEqual([r.text, r.finishReason, r.steps.length], ['Cold, warm, and 2.', 'stop', 2]);
    assert.ok(r.totalUsage.inputTokens > 0);
    const s = streamText({ model: ai, prompt: 'only the weather', tools, stopWhen: stepCountIs(5), maxRetries: 0, onError: () => {} });
    let text = '';
    for await (const part of s.textStream) text += part;
    assert.equal(text, 'Cold, then warm.');
    assert.deepEqual((await s.steps).map((step) => step.finishReason), ['tool-calls', 'tool-calls', 'stop']);
  });
  check('D2: the AI SDK tells an error in a stream as one', async () => {
    const errors = [];
    const s = streamText({ model: ai, prompt: 'the line breaks', maxRetries: 0, onError: ({ error }) => errors.push(error) });
    for await (const part of s.fullStream) if (part.type === 'finish') assert.notEqual(part.finishReason, 'stop');
    assert.equal(errors.length, 1);
  });
}
await checks({
  ...list,
  'G43: without the token, with another one, and under another host nothing is answered': async () => {
    await assert.rejects(new OpenAI({ baseURL: `${http}/v1`, apiKey: 'wrong', maxRetries: 0 }).models.list(), OpenAI.AuthenticationError);
    assert.equal((await fetch(`${http}/v1/models`)).status, 401);
    const elsewhere = await fetch(`${http}/v1/models`, { headers: { authorization: `Bearer ${apiKey}`, origin: 'https://evil.example' } });
    assert.equal(elsewhere.status, 403);
    assert.equal(elsewhere.headers.get('access-control-allow-origin'), null);
  },
  // Google's models are used so: the official openai client, with a base URL that ends with a slash, and a system message.
  'D2: a program written for Gemini by its OpenAI mode changes the base URL, the key and the model': async () => {
    const gemini = new OpenAI({ baseURL: `${http}/v1/`, apiKey, maxRetries: 0 });
    const messages = [{ role: 'system', content: 'You are a helpful assistant.' }, { role: 'user', content: 'compute for me' }];
    const r = await gemini.chat.completions.create({ model: 'gpt', messages });
    assert.equal(r.choices[0].message.content, 'Let me see.\n\nIt is 42.');
    const chunks = await chunksOf(await gemini.chat.completions.create({ model: 'gpt', messages, stream: true }));
    assert.equal(textOf(chunks), 'Let me see.\n\nIt is 42.');
  },
  'E2: the token and the key are in no output': async () => {
    const all = d.log + JSON.stringify(await status());
    assert.ok(!all.includes(apiKey) && !all.includes('mock-key-0123456789'));
  },
  'stopping is clean': async () => { await agent.close(); await d.stop(); await mock.stop(); },
});
