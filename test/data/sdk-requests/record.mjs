// Records what the official clients send for one conversation: two turns, three parallel calls, their results (text, an
// image, an error), an image of the user, streamed. See README.md.
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const from = createRequire(path.join(process.cwd(), 'package.json')); // the packages of the folder that it is run in
const { default: OpenAI, AzureOpenAI } = from('openai');
const { default: Anthropic } = from('@anthropic-ai/sdk');
const { GoogleGenAI } = from('@google/genai');
const { Ollama } = from('ollama');

const here = path.dirname(fileURLToPath(import.meta.url));
const png = 'iVBORw0KGgo=';
const url = `data:image/png;base64,${png}`;
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [
  { name: 'get_weather', description: 'Weather of a city', schema },
  { name: 'take_photo', description: 'A photo', schema: { type: 'object', properties: {} } },
];
const told = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'anthropic-version', 'content-type'];

let api;
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (d) => (body += d));
  request.on('end', () => {
    const headers = Object.fromEntries(told.filter((n) => request.headers[n]).map((n) => [n, request.headers[n]]));
    const record = { method: request.method, path: request.url, headers, body: JSON.parse(body) };
    fs.writeFileSync(path.join(here, `${api}.json`), JSON.stringify(record, null, 1) + '\n');
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"recorded"}}');
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;
const record = async (name, ask) => {
  api = name;
  try {
    for await (const _ of await ask());
    throw new Error(`${name}: there should have been an error`);
  } catch (e) {
    if (!/recorded/.test(e.message + JSON.stringify(e.error))) throw e;
  }
};

const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: args } });
const chat = {
  model: 'a-model',
  stream: true,
  stream_options: { include_usage: true },
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is here?' }, { type: 'image_url', image_url: { url } }] },
    {
      role: 'assistant', content: null,
      tool_calls: [call('call_1', 'get_weather', '{"city":"Oslo"}'), call('call_2', 'take_photo', '{}'),
        call('call_3', 'take_photo', '{}')],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    { role: 'tool', tool_call_id: 'call_2', content: '[image 1, image/png: shown below]' },
    { role: 'tool', tool_call_id: 'call_3', content: 'Error: no film' },
    {
      role: 'user',
      content: [{ type: 'text', text: 'Images of the tool results above: 1 from take_photo' }, { type: 'image_url', image_url: { url } }],
    },
  ],
  tools: tools.map((t) => ({ type: 'function', function: { name: t.name, description: t.description, parameters: t.schema } })),
  parallel_tool_calls: true,
  max_completion_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  stop: ['END'],
};
const openai = new OpenAI({ apiKey: 'KEY', baseURL: `${base}/v1`, maxRetries: 0 });
await record('openai-chat', () => openai.chat.completions.create(chat));
const azure = new AzureOpenAI({ apiKey: 'KEY', endpoint: base, apiVersion: '2024-10-21', maxRetries: 0 });
await record('azure', () => azure.chat.completions.create(chat));

const output = (call_id, output) => ({ type: 'function_call_output', call_id, output });
const image = { type: 'input_image', detail: 'auto', image_url: url };
await record('openai-responses', () => openai.responses.create({
  model: 'a-model', stream: true, store: false, include: ['reasoning.encrypted_content'], instructions: 'Be brief.',
  max_output_tokens: 100, temperature: 0.5, top_p: 0.9, parallel_tool_calls: true,
  tools: tools.map((t) => ({ type: 'function', name: t.name, description: t.description, parameters: t.schema, strict: false })),
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is here?' }, image] },
    { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', call_id: 'call_2', name: 'take_photo', arguments: '{}' },
    { type: 'function_call', call_id: 'call_3', name: 'take_photo', arguments: '{}' },
    output('call_1', 'rain'), output('call_2', [image]), output('call_3', 'Error: no film'),
  ],
}));

const cache_control = { type: 'ephemeral' };
const source = { type: 'base64', media_type: 'image/png', data: png };
const anthropic = new Anthropic({ apiKey: 'KEY', baseURL: base, maxRetries: 0 });
await record('anthropic', () => anthropic.messages.create({
  model: 'a-model', max_tokens: 100, stream: true, stop_sequences: ['END'],
  system: [{ type: 'text', text: 'Be brief.', cache_control }],
  tools: tools.map((t, i) => ({
    name: t.name, description: t.description, input_schema: t.schema, ...(i + 1 === tools.length ? { cache_control } : {}),
  })),
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'What is here?' }, { type: 'image', source }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'call_2', name: 'take_photo', input: {} },
        { type: 'tool_use', id: 'call_3', name: 'take_photo', input: {}, cache_control },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'rain' }] },
        { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'image', source }] },
        { type: 'tool_result', tool_use_id: 'call_3', content: [{ type: 'text', text: 'no film' }], is_error: true, cache_control },
      ],
    },
  ],
}));

const inlineData = { mimeType: 'image/png', data: png };
const gemini = new GoogleGenAI({ apiKey: 'KEY', httpOptions: { baseUrl: base } });
await record('gemini', () => gemini.models.generateContentStream({
  model: 'gemini-3',
  contents: [
    { role: 'user', parts: [{ text: 'What is here?' }, { inlineData }] },
    {
      role: 'model',
      parts: [
        { functionCall: { name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2lnbg==' },
        { functionCall: { name: 'take_photo', args: {} } },
        { functionCall: { name: 'take_photo', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'get_weather', response: { output: 'rain' } } },
        { functionResponse: { name: 'take_photo', response: { output: '' }, parts: [{ inlineData }] } },
        { functionResponse: { name: 'take_photo', response: { error: 'no film' } } },
      ],
    },
  ],
  config: {
    systemInstruction: 'Be brief.', maxOutputTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['END'],
    tools: [{ functionDeclarations: tools.map((t) => ({ name: t.name, description: t.description, parametersJsonSchema: t.schema })) }],
  },
}));

const tool = (id, tool_name, content) => ({ role: 'tool', content, tool_name, tool_call_id: id });
const ollama = new Ollama({ host: base });
await record('ollama', () => ollama.chat({
  model: 'a-model', stream: true, options: { num_predict: 100, temperature: 0.5, top_p: 0.9, stop: ['END'] },
  tools: chat.tools,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is here?', images: [png] },
    {
      role: 'assistant', content: '',
      tool_calls: [
        { id: 'call_1', function: { name: 'get_weather', arguments: { city: 'Oslo' } } },
        { id: 'call_2', function: { name: 'take_photo', arguments: {} } },
        { id: 'call_3', function: { name: 'take_photo', arguments: {} } },
      ],
    },
    tool('call_1', 'get_weather', 'rain'),
    tool('call_2', 'take_photo', '[image 1, image/png: shown below]'),
    tool('call_3', 'take_photo', 'Error: no film'),
    { role: 'user', content: 'Images of the tool results above: 1 from take_photo', images: [png] },
  ],
}));
server.close();
process.exit(0);
