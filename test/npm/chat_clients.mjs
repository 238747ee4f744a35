// Programs on the clients of OpenAI's Responses and Anthropic's Messages, against /v1: the official clients, Vercel's AI SDK
// with its providers for both, and LangChain.js. Behind mcpbx stands a model endpoint from elsewhere (aimock).
// @google/genai has no OpenAI mode: its package (3.3.0) calls {model}:generateContent and knows no chat/completions. The
// OpenAI mode that Google documents for Gemini is the openai client with another base URL (openai_clients.mjs).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { Daemon, checks } from './lib.mjs';

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
const compute = (expression) => ({ name: 'calc__calculate', arguments: JSON.stringify({ expression }) });
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
mock.addFixture({ match: { userMessage: 'and before' }, response: (request) => ({ content: `${request.messages.length} messages` }) });
mock.addFixture({ match: { userMessage: 'as json' }, response: { content: '{"answer":42}' } });
mock.addFixture({ match: { userMessage: 'think aloud' }, response: { content: 'So.', reasoning: 'Hm, hm.' } });
mock.addFixture({ match: { userMessage: 'the line breaks' }, response: { content: 'This answer never comes to its end.' }, chunkSize: 4, latency: 20, truncateAfterChunks: 3 });
mock.addFixture({ match: { userMessage: 'long story' }, response: { content: 'word '.repeat(2000) }, chunkSize: 5, latency: 20 });
await mock.start();
const url = mock.url ?? `http://127.0.0.1:${mock.port}`;

const d = await Daemon.start({
  mcpServers: { calc: { command: 'mcpbx-toolbox' } },
  models: { gpt: { api: 'openai-chat', baseUrl: `${url}/v1`, model: 'gpt-mock', apiKey: 'mock-key-0123456789' } },
  http: { address: '127.0.0.1:0' },
});
await d.ready();
const status = async () => JSON.parse((await d.mcpbx('--json', 'status')).stdout);
const { http, tokenFile } = await status();
const apiKey = fs.readFileSync(tokenFile, 'utf8').trim();
const openai = new OpenAI({ baseURL: `${http}/v1`, apiKey, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: http, apiKey, maxRetries: 0 });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const runs = async () => (await status()).runs.total;
const until = async (what, holds) => {
  for (let i = 0; !(await holds()); ++i) {
    assert.ok(i < 600, `never: ${what}`);
    await new Promise((ok) => setTimeout(ok, 50));
  }
};
const thrown = async (f) => {
  try {
    await f();
  } catch (e) {
    return e;
  }
  return assert.fail('it was taken');
};
// Leaves in the middle of a stream and waits until its run and its request to the model have ended.
const leaves = async (stream) => {
  const cancelled = async () => (await status()).runs.stops.cancelled ?? 0;
  const before = await cancelled();
  let events = 0;
  for await (const _ of stream) if (++events > 5) break;
  await until('the run is cancelled', async () => (await cancelled()) === before + 1 && (await status()).runs.active === 0);
};

// openai, responses.
const fn = { type: 'function', name: 'get_weather', description: 'The weather in a city.', parameters, strict: true };
const respond = (input, more = {}) => openai.responses.create({ model: 'gpt', input, ...more });
const outputs = (response) => response.output.filter((i) => i.type === 'function_call')
  .map((c) => ({ type: 'function_call_output', call_id: c.call_id, output: 'some weather' }));

// @anthropic-ai/sdk.
const mine = { name: 'get_weather', description: 'The weather in a city.', input_schema: parameters };
const ask = (content, more = {}) => anthropic.messages.create({ model: 'gpt', max_tokens: 256, messages: [{ role: 'user', content }], ...more });

const ai = { 'its openai provider': createOpenAI({ baseURL: `${http}/v1`, apiKey })('gpt'), 'its anthropic provider': createAnthropic({ baseURL: `${http}/v1`, apiKey })('gpt') };
const list = {};
for (const [way, model] of Object.entries(ai)) {
  const tools = { get_weather: tool({ description: 'The weather in a city.', inputSchema: jsonSchema(parameters), execute: async () => 'some weather' }) };
  list[`the AI SDK generates and streams by ${way}, with tools of both sides`] = async () => {
    const before = await runs();
    const r = await generateText({ model, prompt: 'weather and sums', tools, stopWhen: stepCountIs(5), maxRetries: 0 });
    assert.deepEqual([r.text, r.finishReason, r.steps.length], ['Cold, warm, and 2.', 'stop', 2]);
    assert.ok(r.totalUsage.inputTokens > 0);
    const s = streamText({ model, prompt: 'only the weather', tools, stopWhen: stepCountIs(5), maxRetries: 0, onError: () => {} });
    let text = '';
    for await (const part of s.textStream) text += part;
    assert.equal(text, 'Cold, then warm.');
    assert.deepEqual((await s.steps).map((step) => step.finishReason), ['tool-calls', 'tool-calls', 'stop']);
    assert.equal(await runs(), before + 2);  // each of both is one run, whatever it handed back
  };
  list[`the AI SDK tells an error in a stream as one by ${way}`] = async () => {
    const errors = [];
    const s = streamText({ model, prompt: 'the line breaks', maxRetries: 0, onError: ({ error }) => errors.push(error) });
    for await (const part of s.fullStream) if (part.type === 'finish') assert.notEqual(part.finishReason, 'stop');
    assert.ok(errors.length >= 1);
  };
}

await checks({
  'D2: responses: a tool of mcpbx runs inside, and the response has the text of all rounds': async () => {
    const r = await respond('compute for me');
    assert.deepEqual([r.object, r.status, r.output.map((i) => i.type)], ['response', 'completed', ['message', 'message']]);
    assert.equal(r.output_text, 'Let me see.It is 42.');
    assert.ok(r.usage.input_tokens > 0 && r.usage.total_tokens === r.usage.input_tokens + r.usage.output_tokens);
  },
  'D2: responses: the official stream helper gives the same response': async () => {
    const stream = openai.responses.stream({ model: 'gpt', input: 'compute for me' });
    let text = '', number = 0;
    for await (const e of stream) {
      assert.equal(e.sequence_number, number++);
      if (e.type === 'response.output_text.delta') text += e.delta;
    }
    assert.equal(text, 'Let me see.It is 42.');
    const r = await stream.finalResponse();
    assert.deepEqual([r.status, r.output.length], ['completed', 2]);
  },
  "D2: responses: outputs go on with the same run, by the items and by the response's id": async () => {
    const question = { role: 'user', content: 'weather and sums' };
    const before = await runs();
    const first = await respond([question], { tools: [fn] });
    assert.deepEqual(first.output.map((i) => [i.type, i.arguments]), [['function_call', '{"city":"Oslo"}'], ['function_call', '{"city":"Rome"}']]);
    const second = await respond([question, ...first.output, ...outputs(first)], { tools: [fn] });
    assert.equal(second.output_text, 'Cold, warm, and 2.');
    let r = await respond('only the weather', { tools: [fn] });
    for (let i = 0; i < 2; ++i) r = await respond(outputs(r), { previous_response_id: r.id, tools: [fn] });
    assert.equal(r.output_text, 'Cold, then warm.');
    assert.equal(await runs(), before + 2);
  },
  'D2: responses: the next question knows what was said before, in the session of the response': async () => {
    const first = await respond('compute for me');
    const second = await respond('and before', { previous_response_id: first.id });
    assert.equal(second.output_text, '6 messages');
    const e = await thrown(() => respond('and before', { previous_response_id: first.id }));
    assert.deepEqual([e.status, e.param], [400, 'previous_response_id']);
  },
  'D2: responses: a structured answer is read by the client, reasoning comes where it was asked for': async () => {
    const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'], additionalProperties: false };
    const r = await openai.responses.parse({ model: 'gpt', input: 'as json', text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } });
    assert.equal(r.output_text, '{"answer":42}');
    assert.deepEqual((await respond('think aloud', { reasoning: { summary: 'auto' } })).output.map((i) => i.type), ['reasoning', 'message']);
    assert.deepEqual((await respond('think aloud')).output.map((i) => i.type), ['message']);
  },
  'D2: responses: what is wrong is told with its place, and leaving ends the run': async () => {
    for (const [more, param] of [[{ temperature: 9 }, 'temperature'], [{ background: true }, 'background'], [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'], [{ model: 'none' }, 'model']]) {
      const e = await thrown(() => respond('x', more));
      assert.ok(e instanceof OpenAI.APIError);
      assert.deepEqual([e.status, e.param], [param === 'model' ? 404 : 400, param]);
    }
    await leaves(await respond('long story', { stream: true }));
  },
  'D2: messages: a tool of mcpbx runs inside, and the message has the text of all rounds': async () => {
    const r = await ask('compute for me');
    assert.deepEqual(r.content, [{ type: 'text', text: 'Let me see.' }, { type: 'text', text: 'It is 42.' }]);
    assert.deepEqual([r.type, r.role, r.stop_reason], ['message', 'assistant', 'end_turn']);
    assert.ok(r.usage.input_tokens > 0 && r.usage.output_tokens > 0);
  },
  'D2: messages: the official stream helper gives the same message': async () => {
    const stream = anthropic.messages.stream({ model: 'gpt', max_tokens: 256, messages: [{ role: 'user', content: 'compute for me' }] });
    let text = '';
    stream.on('text', (part) => { text += part; });
    const r = await stream.finalMessage();
    assert.equal(text, 'Let me see.It is 42.');
    assert.deepEqual([r.content.length, r.stop_reason], [2, 'end_turn']);
    assert.ok(r.usage.output_tokens > 0);
  },
  "D2: messages: the caller's calls are handed back as tool_use, and tool_result goes on with the same run": async () => {
    const before = await runs();
    for (const stream of [false, true]) {
      const question = { role: 'user', content: 'weather and sums' };
      const body = { model: 'gpt', max_tokens: 256, tools: [mine] };
      const say = (messages) => stream ? anthropic.messages.stream({ ...body, messages }).finalMessage() : anthropic.messages.create({ ...body, messages });
      const first = await say([question]);
      assert.equal(first.stop_reason, 'tool_use');
      assert.deepEqual(first.content.map((b) => [b.type, b.name, b.input]), [['tool_use', 'get_weather', { city: 'Oslo' }], ['tool_use', 'get_weather', { city: 'Rome' }]]);
      const results = first.content.map((b, i) => ({ type: 'tool_result', tool_use_id: b.id, content: ['cold', 'warm'][i] }));
      const second = await say([question, { role: 'assistant', content: first.content }, { role: 'user', content: results }]);
      assert.deepEqual([second.stop_reason, second.content[0].text], ['end_turn', 'Cold, warm, and 2.']);
    }
    assert.equal(await runs(), before + 2);
  },
  'D2: messages: thinking comes where it was asked for and is nowhere else': async () => {
    const thinks = await ask('think aloud', { thinking: { type: 'adaptive' } });
    assert.deepEqual(thinks.content.map((b) => b.thinking ?? b.text), ['Hm, hm.', 'So.']);
    const not = await ask('think aloud');
    assert.ok(!JSON.stringify(not).includes('Hm'));
    // Thoughts come back in the next request, and do no harm.
    const on = await anthropic.messages.create({ model: 'gpt', max_tokens: 256, messages: [{ role: 'user', content: 'think aloud' },
      { role: 'assistant', content: thinks.content }, { role: 'user', content: 'and before' }] });
    assert.equal(on.content[0].text, '4 messages');
  },
  'D2: messages: what is wrong is told, tokens are not counted, and leaving ends the run': async () => {
    const e = await thrown(() => ask('x', { temperature: 9 }));
    assert.ok(e instanceof Anthropic.BadRequestError && e.message.includes('temperature'), `${e}`);
    assert.ok(await thrown(() => ask('x', { model: 'none' })) instanceof Anthropic.NotFoundError);
    assert.ok(await thrown(() => anthropic.messages.countTokens({ model: 'gpt', messages: [] })) instanceof Anthropic.NotFoundError);
    assert.ok(await thrown(() => new Anthropic({ baseURL: http, apiKey: 'wrong', maxRetries: 0 }).messages.create({})) instanceof Anthropic.AuthenticationError);
    await assert.rejects(anthropic.messages.stream({ model: 'gpt', max_tokens: 9, messages: [{ role: 'user', content: 'the line breaks' }] }).finalMessage());
    await leaves(await ask('long story', { stream: true }));
  },
  ...list,
  'LangChain asks, streams and calls tools by Chat Completions and by Responses': async () => {
    for (const useResponsesApi of [false, true]) {
      const model = new ChatOpenAI({ model: 'gpt', apiKey, maxRetries: 0, useResponsesApi, configuration: { baseURL: `${http}/v1` } });
      assert.match((await model.invoke('compute for me')).text, /It is 42\.$/);
      let text = '';
      for await (const chunk of await model.stream('compute for me')) text += chunk.text;
      assert.match(text, /It is 42\.$/);
      const bound = model.bindTools([{ type: 'function', function: { name: fn.name, description: fn.description, parameters } }]);
      const question = new HumanMessage('weather and sums');
      const first = await bound.invoke([question]);
      assert.deepEqual(first.tool_calls.map((c) => c.args), [{ city: 'Oslo' }, { city: 'Rome' }]);
      const results = first.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: 'some weather' }));
      assert.equal((await bound.invoke([question, first, ...results])).text, 'Cold, warm, and 2.');
    }
  },
  'E2: the token and the key are in no output': async () => {
    const all = d.log + JSON.stringify(await status());
    assert.ok(!all.includes(apiKey) && !all.includes('mock-key-0123456789'));
  },
  'stopping is clean': async () => { await d.stop(); await mock.stop(); },
});
