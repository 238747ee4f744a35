// An independent model endpoint (aimock) drives the loop: three rounds of tools, parallel calls, streaming.
import assert from 'node:assert/strict';
import { LLMock } from '@copilotkit/aimock';
import { Daemon, bin, checks } from './lib.mjs';

process.env.AIMOCK_STRICT_TURN_INDEX = '1';
const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
const compute = (expression) => ({ name: 'calc__calculate', arguments: JSON.stringify({ expression }) });
for (const [index, toolCalls] of [[compute('1+1')], [compute('2+2'), compute('3*3')], [compute('10/4')]].entries())
  mock.addFixture({ match: { turnIndex: index, userMessage: 'three rounds' }, response: { toolCalls } });
mock.addFixture({ match: { turnIndex: 3, userMessage: 'three rounds' }, response: { content: 'The answers are 2, 4, 9 and 2.5.' } });
mock.addFixture({ match: { turnIndex: 0, userMessage: 'just talk' }, response: { content: 'Nothing to compute here, only words.' } });
await mock.start();
const url = mock.url ?? `http://127.0.0.1:${mock.port}`;

const d = await Daemon.start({
  mcpServers: { calc: { command: 'mcpbx-toolbox' } },
  models: { mock: { api: 'openai-chat', baseUrl: `${url}/v1`, model: 'mock-model', apiKey: '${env:MOCK_KEY}' } },
  defaultModel: 'mock',
}, { env: { MOCK_KEY: 'mock-key-0123456789' } });
await checks({
  'the daemon becomes ready': () => d.ready(),
  'L1: three rounds of tools end in an answer': async () => {
    const c = d.caller();
    const r = await c.request('mcpbx/chat', { input: 'three rounds' });
    assert.ok(r.result, JSON.stringify(r));
    assert.equal(r.result.stopReason, 'final');
    assert.equal(r.result.text, 'The answers are 2, 4, 9 and 2.5.');
    assert.equal(r.result.rounds, 4);
    assert.equal(r.result.toolCalls.length, 4);
    assert.ok(r.result.toolCalls.every((t) => !t.isError));
    const types = c.events().map((e) => e.type);
    assert.equal(types.filter((t) => t === 'tool_result').length, 4);
    assert.equal(types.filter((t) => t === 'done').length, 1);
    assert.equal(types.at(-1), 'done');
    const seqs = c.events().map((e) => e.seq);
    assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
    c.close();
  },
  'L2: text streams before the run ends': async () => {
    const c = d.caller();
    const r = await c.request('mcpbx/chat', { input: 'just talk' });
    const text = c.events().filter((e) => e.type === 'text').map((e) => e.text).join('');
    assert.equal(text, r.result.text);
    c.close();
  },
  'ask prints the final text only when piped': async () => {
    const r = await d.mcpbx('ask', '-m', 'mock', 'just talk');
    assert.deepEqual([r.status, r.stdout], [0, 'Nothing to compute here, only words.\n'], r.stderr);
  },
  'E2: the key is in no output': async () => {
    const all = d.log + (await d.mcpbx('--json', 'status')).stdout + (await d.mcpbx('--json', 'servers')).stdout;
    assert.ok(!all.includes('mock-key-0123456789'));
  },
  'stopping is clean': async () => { await d.stop(); await mock.stop(); },
});
