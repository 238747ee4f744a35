// Everything that the fixture server offers: the tools, prompts, resources and completions that the scenarios of the
// official conformance suite call by name, and a few of our own. Handlers take (arguments, call), where `call` has
// `ctx` of the SDK, `capabilities` of the caller, `notify` and `era`.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { acceptedContent, createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import { taskTools } from './tasks.mjs';

// One red pixel, and a sound without a sample.
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = (words) => ({ type: 'text', text: words });
export const say = (words) => ({ content: [text(words)] });
const image = { type: 'image', data: picture, mimeType: 'image/png' };
const embed = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const string = { type: 'string' };
export const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });

// What a tool asks of the caller. Both eras are served by one definition: to callers of the old one, the SDK makes
// requests of these and calls the handler again with the answers.
const elicit = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
const sample = (words, maxTokens = 64) => inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens });
const roots = () => inputRequired.listRoots();
const answers = (call) => call.ctx.mcpReq.inputResponses ?? {};
const sampled = (answer) => [answer?.content].flat()[0]?.text ?? '(nothing)';
export const seal = createRequestStateCodec({ key: randomBytes(32).toString('hex') });
const ask = async (inputRequests, state) =>
  inputRequired({ inputRequests, ...(state === undefined ? {} : { requestState: await seal.mint(state) }) });

// A tool that asks one question and then says what was answered.
const question = (key, request, use) => (args, call) => {
  const answer = answers(call)[key];
  return answer === undefined ? ask({ [key]: request(args) }) : say(use(answer));
};
const outcome = (words) => (answer) => `${words}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const choices = ['option1', 'option2', 'option3'];
const titled = (noun) => ['First', 'Second', 'Third'].map((word, at) => ({ const: `value${at + 1}`, title: `${word} ${noun}` }));
const enums = {
  untitledSingle: { type: 'string', enum: choices },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: choices } },
  titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: titled('Choice') } },
};
// Every keyword of JSON Schema 2020-12 that a bridge might lose.
const wholeSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: { address: { $anchor: 'addressDef', ...object({ street: string, city: string }, []) } },
  type: 'object',
  properties: { name: string, address: { $ref: '#/$defs/address' }, contactMethod: { enum: ['phone', 'email'] }, phone: string, email: string },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

async function progress(args, { ctx }) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  for (const done of [0, 50, 100]) {
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: done, total: 100, message: `${done} of 100` } });
    await pause(20);
  }
  return say(`${progressToken}`);
}
async function logs(args, { ctx }) {
  for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await ctx.mcpReq.log('info', words);
    await pause(20);
  }
  return say('Logged three times');
}
async function withState(args, call) {
  const state = call.ctx.mcpReq.requestState();
  if (state?.kind === 'asked' && acceptedContent(answers(call), 'confirm')?.ok === true) return say('state-ok');
  return ask({ confirm: elicit('Is it so?', { ok: { type: 'boolean' } }) }, { kind: 'asked' });
}
async function severalInputs(args, call) {
  const { user_name: name, greeting, client_roots: found } = answers(call);
  if (call.ctx.mcpReq.requestState()?.kind === 'several' && name && greeting && found)
    return say(`${acceptedContent(answers(call), 'user_name')?.name}: ${sampled(greeting)}, ${found.roots?.length ?? 0} roots`);
  return ask({ user_name: elicit('What is your name?', { name: string }), greeting: sample('Say a greeting.'), client_roots: roots() }, { kind: 'several' });
}
async function rounds(args, call) {
  const state = call.ctx.mcpReq.requestState();
  const { step1, step2 } = answers(call);
  if (state?.round === 2 && step2) return say(`${state.name} likes ${acceptedContent(answers(call), 'step2')?.color}`);
  if (state?.round === 1 && step1)
    return ask({ step2: elicit('Which color?', { color: string }) }, { round: 2, name: acceptedContent(answers(call), 'step1')?.name });
  return ask({ step1: elicit('Which name?', { name: string }) }, { round: 1 });
}
async function untamperedState(args, call) {
  if (call.ctx.mcpReq.requestState()?.kind === 'sealed' && answers(call).confirm) return say('integrity-ok');
  return ask({ confirm: elicit('Is it so?', { ok: { type: 'boolean' } }) }, { kind: 'sealed' });
}
async function whatTheCallerCan(args, call) {
  const given = Object.keys(answers(call));
  if (given.length > 0) return say(`answered: ${given.join(', ')}`);
  const wanted = {};
  if (call.capabilities.elicitation) wanted.elicit_input = elicit('Any value?', { value: string });
  if (call.capabilities.sampling) wanted.sample_input = sample('Any words.');
  return Object.keys(wanted).length > 0 ? ask(wanted, { kind: 'able' }) : say('The caller can answer nothing.');
}
function elicitedName(args, call) {
  const name = acceptedContent(answers(call), 'user_name')?.name;
  return typeof name === 'string' ? say(`Hello, ${name}!`) : ask({ user_name: elicit('What is your name?', { name: string }) });
}
// Waits for as long as it is told, or until the call is cancelled.
async function wait(args, { ctx }) {
  try {
    await pause(args.ms ?? 1000, undefined, { signal: ctx.mcpReq.signal });
  } catch {
    console.error('fixture: test_wait was cancelled');
  }
  return say('waited');
}

const mrtr = (name) => `test_input_required_result_${name}`;
const confirm = (key) => question(key, () => elicit('Go on?', { ok: { type: 'boolean' } }), outcome('Answered'));
// name: [description, handler, schema of the arguments, more members of the definition]
export const tools = {
  test_simple_text: ['Answers with a text', () => say('This is a simple text response for testing.')],
  test_image_content: ['Answers with a picture', () => ({ content: [image] })],
  test_audio_content: ['Answers with a sound', () => ({ content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }] })],
  test_embedded_resource: ['Answers with a resource', () => ({ content: [embed('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] })],
  test_multiple_content_types: ['Answers with text, picture and resource', () =>
    ({ content: [text('Three kinds:'), image, embed('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')] })],
  test_tool_with_logging: ['Logs three times', logs],
  test_tool_with_progress: ['Reports progress three times', progress],
  test_error_handling: ['Fails', () => ({ ...say('This tool intentionally returns an error for testing'), isError: true })],
  test_reconnection: ['Closes its stream before it answers', async (args, { ctx }) => { ctx.http?.closeSSE?.(); await pause(100); return say('Answered after the stream was closed'); }],
  test_sampling: ['Asks for a completion', question('sampling', (args) => sample(args.prompt), (answer) => `LLM response: ${sampled(answer)}`), object({ prompt: string })],
  test_elicitation: ['Asks for an input', question('input', (args) => elicit(args.message, { response: string }), outcome('User response')), object({ message: string })],
  test_elicitation_sep1034_defaults: ['Asks with defaults', question('form', () => elicit('Right as it is?', defaults, []), outcome('Elicitation completed'))],
  test_elicitation_sep1330_enums: ['Asks for choices', question('form', () => elicit('Which ones?', enums, []), outcome('Elicitation completed'))],
  json_schema_2020_12_tool: ['Takes arguments by a JSON Schema of 2020-12', (args) => say(JSON.stringify(args)), wholeSchema],
  test_missing_capability: ['Needs a caller that samples', question('sampling', () => sample('Hello.'), () => 'Sampled')],
  test_streaming_elicitation: ['Needs a caller that can be asked', confirm('input')],
  test_logging_tool: ['Logs once', async (args, { ctx }) => { await ctx.mcpReq.log('info', 'One line'); return say('Logged once'); }],
  test_trigger_tool_change: ['Says that the list of tools changed', async (args, { notify }) => { await notify('tools'); return say('Said'); }],
  test_trigger_prompt_change: ['Says that the list of prompts changed', async (args, { notify }) => { await notify('prompts'); return say('Said'); }],
  test_trigger_resource_change: ['Says that the list of resources changed', async (args, { notify }) => { await notify('resources'); return say('Said'); }],
  test_trigger_resource_update: ['Says that a resource changed', async (args, { notify }) => { await notify('resource', args.uri); return say('Said'); }, object({ uri: string })],
  [mrtr('elicitation')]: ['Asks for a name', elicitedName],
  [mrtr('sampling')]: ['Asks for a completion', question('sample_request', () => sample('What is the capital of France?'), (answer) => `Sampled: ${sampled(answer)}`)],
  [mrtr('list_roots')]: ['Asks for the roots', question('roots_request', roots, (answer) => `${answer.roots?.length ?? 0} roots`)],
  [mrtr('request_state')]: ['Asks with a state', withState],
  [mrtr('multiple_inputs')]: ['Asks three things at once', severalInputs],
  [mrtr('multi_round')]: ['Asks twice', rounds],
  [mrtr('tampered_state')]: ['Refuses a state that it did not seal', untamperedState],
  [mrtr('capabilities')]: ['Asks as much as the caller can answer', whatTheCallerCan],
  test_region: ['Takes an argument that callers repeat in a header', (args) => say(`region ${args.region}`), object({ region: { ...string, 'x-mcp-header': 'Region' } })],
  test_wait: ['Waits until it is over or cancelled', wait, object({ ms: { type: 'integer' } }, [])],
  test_echo: ['Gives back its arguments and what came beside them', (args, { ctx }) =>
    ({ ...say(JSON.stringify(args)), structuredContent: { arguments: args, meta: ctx.mcpReq._meta ?? {} }, _meta: { 'example.com/echo': true } }), { type: 'object', additionalProperties: true }],
  ...taskTools({ say, object, string, elicit, question: (call, key) => acceptedContent(answers(call), key), ask }),
};

// uri: [name, type, contents]
export const resources = {
  'test://static-text': ['static-text', 'text/plain', { text: 'This is the content of the static text resource.' }],
  'test://static-binary': ['static-binary', 'image/png', { blob: picture }],
  'test://watched-resource': ['watched-resource', 'text/plain', { text: 'A resource that callers watch' }],
};
export const templates = [{ name: 'data-of-id', uriTemplate: 'test://template/{id}/data', mimeType: 'application/json' }];
// read URI: its contents, or nothing when there is no such resource.
export function read(uri) {
  if (Object.hasOwn(resources, uri)) return [{ uri, mimeType: resources[uri][1], ...resources[uri][2] }];
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  return id && [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }];
}

const user = (content) => ({ role: 'user', content });
// name: [names of the arguments, handler that gives the messages, or asks]
export const prompts = {
  test_simple_prompt: [[], () => [user(text('This is a simple prompt for testing.'))]],
  test_prompt_with_arguments: [['arg1', 'arg2'], (args) => [user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`))]],
  test_prompt_with_embedded_resource: [['resourceUri'], (args) => [user(embed(args.resourceUri, 'text/plain', 'Embedded resource content for testing.')), user(text('Read it.'))]],
  test_prompt_with_image: [[], () => [user(image), user(text('Look at it.'))]],
  test_input_required_result_prompt: [[], (args, call) => {
    const context = acceptedContent(answers(call), 'user_context')?.context;
    return typeof context === 'string' ? [user(text(`In the context of ${context}`))] : ask({ user_context: elicit('In which context?', { context: string }) });
  }],
};
// complete START: the words that begin so.
export const complete = (start) => ['amber', 'azure', 'paris', 'park', 'party'].filter((word) => word.startsWith(start));
