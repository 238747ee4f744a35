// An independent model endpoint (aimock) drives the loop in the five shapes of API that it speaks: rounds of tools,
// parallel calls, streaming, and what goes wrong with models and networks.
import assert from 'node:assert/strict';
import { LLMock } from '@copilotkit/aimock';
import { Daemon, checks } from './lib.mjs';

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
const compute = (expression) => ({ name: 'calc__calculate', arguments: JSON.stringify({ expression }) });
// Each response in its turn, told by the results that the request has: how many calls a turn made differs by API in
// what aimock counts as turns.
const turns = (userMessage, ...responses) => {
  const results = [0];
  for (const r of responses) results.push(results.at(-1) + (r.toolCalls?.length ?? 0));
  mock.addFixture({ match: { userMessage }, response: (request) => {
    const have = request.messages.filter((m) => m.role === 'tool').length;
    return responses[results.indexOf(have)] ?? { error: { message: `no turn has ${have} results` }, status: 400 };
  } });
};

turns('three rounds', { toolCalls: [compute('1+1')] }, { toolCalls: [compute('2+2'), compute('3*3')] }, { toolCalls: [compute('10/4')] },
  { content: 'The answers are 2, 4, 9 and 2.5.' });
mock.addFixture({ match: { userMessage: 'slow words' }, response: { content: 'These words come in many small pieces.' }, chunkSize: 4, latency: 60 });
mock.addFixture({ match: { userMessage: 'busy at first', sequenceIndex: 0 }, response: { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 0 } });
mock.addFixture({ match: { userMessage: 'busy at first' }, response: { content: 'Now it goes.' } });
mock.addFixture({ match: { userMessage: 'the line breaks' }, response: { content: 'This answer never comes to its end.' }, chunkSize: 4, latency: 5, truncateAfterChunks: 3 });
mock.addFixture({ match: { userMessage: 'breaks in a call' }, response: { toolCalls: [compute('1+2+3+4+5+6+7+8+9')] }, chunkSize: 4, latency: 5, truncateAfterChunks: 3 });
turns('wrong arguments', { toolCalls: [{ name: 'calc__calculate', arguments: '{"expression":["1+1"]}' }] }, { content: 'I was told.' });
turns('unreadable arguments', { toolCalls: [{ name: 'calc__calculate', arguments: '{"expression": 1 +' }] }, { content: 'I was told.' });
turns('a tool that there is not', { toolCalls: [{ name: 'calc__divine', arguments: '{}' }] }, { content: 'I was told.' });
let asked = 0;
mock.addFixture({ match: { userMessage: 'without end' }, response: () => ({ toolCalls: [compute(`${++asked}+1`)] }) });
await mock.start();
const url = mock.url ?? `http://127.0.0.1:${mock.port}`;

const apiKey = '${env:MOCK_KEY}';
const models = {
  'openai-chat': { api: 'openai-chat', baseUrl: `${url}/v1`, model: 'gpt-mock', apiKey },
  'openai-responses': { api: 'openai-responses', baseUrl: `${url}/v1`, model: 'gpt-mock', apiKey },
  anthropic: { api: 'anthropic', baseUrl: url, model: 'claude-mock', apiKey },
  gemini: { api: 'gemini', baseUrl: `${url}/v1beta`, model: 'gemini-mock', apiKey },
  ollama: { api: 'ollama', baseUrl: url, model: 'llama-mock' },
};
const d = await Daemon.start({ mcpServers: { calc: { command: 'mcpbx-toolbox' } }, models, defaultModel: 'openai-chat' },
  { env: { MOCK_KEY: 'mock-key-0123456789' } });

// One question on a connection of its own: the reply, and the events with the moment at which each was there.
const ask = async (model, input, more = {}) => {
  const c = d.caller();
  const r = await c.request('mcpbx/chat', { model, input, ...more });
  const events = c.events();
  c.close();
  return { ...r, events, text: events.filter((e) => e.type === 'text').map((e) => e.text) };
};
const toldOnce = (r) => {
  assert.ok(r.result, JSON.stringify(r.error));
  assert.deepEqual([r.result.stopReason, r.result.text], ['final', 'I was told.']);
  assert.equal(r.result.toolCalls.length, 1);
  assert.equal(r.result.toolCalls[0].isError, true);
};

// A call comes in one piece in these APIs.
const whole = new Set(['gemini', 'ollama']);
const list = { 'the daemon becomes ready': () => d.ready() };
for (const model of Object.keys(models)) {
  const check = (name, f) => { list[`${model}: ${name}`] = f; };
  check('L1: three rounds of tools, one with parallel calls, end in an answer', async () => {
    const r = await ask(model, 'three rounds');
    assert.ok(r.result, JSON.stringify(r.error));
    assert.deepEqual([r.result.stopReason, r.result.text, r.result.rounds], ['final', 'The answers are 2, 4, 9 and 2.5.', 4]);
    assert.equal(r.result.toolCalls.length, 4);
    assert.ok(r.result.toolCalls.every((t) => !t.isError));
    const types = r.events.map((e) => e.type);
    assert.equal(types.filter((t) => t === 'tool_result').length, 4);
    assert.equal(types.filter((t) => t === 'done').length, 1);
    assert.equal(types.at(-1), 'done');
    const seqs = r.events.map((e) => e.seq);
    assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
  });
  check('L2: slow words come piece by piece, each when it is there', async () => {
    const r = await ask(model, 'slow words');
    assert.equal(r.result?.text, 'These words come in many small pieces.', JSON.stringify(r.error));
    assert.equal(r.text.join(''), r.result.text);
    // There are ten pieces, 60 ms apart. Who waits for the end tells one; a machine that stalls may join some.
    assert.ok(r.text.length >= 2, JSON.stringify(r.text));
  });
  check('G31: 429, then an answer', async () => {
    mock.resetMatchCounts();
    const r = await ask(model, 'busy at first');
    assert.deepEqual([r.result?.stopReason, r.result?.text], ['final', 'Now it goes.'], JSON.stringify(r.error));
  });
  check('G28: an answer whose stream breaks off is an error, not an answer', async () => {
    const r = await ask(model, 'the line breaks');
    assert.notEqual(r.result?.stopReason, 'final', JSON.stringify(r.result));
    assert.match(JSON.stringify(r.error ?? r.result), new RegExp(model));
  });
  if (!whole.has(model)) check('G29: a call whose stream breaks off is not run', async () => {
    const r = await ask(model, 'breaks in a call');
    assert.notEqual(r.result?.stopReason, 'final', JSON.stringify(r.result));
    assert.ok(!r.events.some((e) => e.type === 'tool_call' || e.type === 'tool_result'), JSON.stringify(r.events));
  });
  check('L10: arguments against the schema go back to the model', async () => toldOnce(await ask(model, 'wrong arguments')));
  if (model.startsWith('openai'))  // the others have arguments as an object, which aimock does not make of what is none
    check('F6: arguments that are no JSON go back to the model', async () => toldOnce(await ask(model, 'unreadable arguments')));
  check('L10: a tool that there is not goes back to the model', async () => toldOnce(await ask(model, 'a tool that there is not')));
  check('L4: calls without end stop at the limit of rounds', async () => {
    const r = await ask(model, 'without end', { limits: { maxRounds: 3 } });
    assert.ok(r.result, JSON.stringify(r.error));
    assert.notEqual(r.result.stopReason, 'final');
    // The endpoint calls in the last answer too, where no tools were offered: that call is not run.
    assert.deepEqual(r.result.toolCalls.map((t) => t.isError), [false, false, false, true]);
  });
}
await checks({
  ...list,
  'ask prints the final text only when piped': async () => {
    const r = await d.mcpbx('ask', '-m', 'anthropic', 'slow words');
    assert.deepEqual([r.status, r.stdout], [0, 'These words come in many small pieces.\n'], r.stderr);
  },
  'E2: the key is in no output': async () => {
    const all = d.log + (await d.mcpbx('--json', 'status')).stdout + (await d.mcpbx('--json', 'servers')).stdout;
    assert.ok(!all.includes('mock-key-0123456789'));
  },
  'stopping is clean': async () => { await d.stop(); await mock.stop(); },
});
