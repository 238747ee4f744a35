// Callers that others wrote, ready to be connected: the official SDK 1.x, and 2.x as one that probes, that knows the old
// era alone, and that knows the new one alone; over stdio through `mcpbx mcp`, or over HTTP. All answer questions alike.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as schemas from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';

export const kinds = ['SDK 1.x', 'SDK 2.x that probes', 'SDK 2.x of the old era', 'SDK 2.x of the new era'];
const modes = { [kinds[1]]: 'auto', [kinds[2]]: 'legacy', [kinds[3]]: { pin: '2026-07-28' } };
const requests = { 'elicitation/create': schemas.ElicitRequestSchema, 'sampling/createMessage': schemas.CreateMessageRequestSchema, 'roots/list': schemas.ListRootsRequestSchema };
const notifications = {
  'notifications/resources/updated': schemas.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': schemas.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': schemas.PromptListChangedNotificationSchema,
  'notifications/resources/list_changed': schemas.ResourceListChangedNotificationSchema,
  'notifications/message': schemas.LoggingMessageNotificationSchema,
};
const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };

// A form filled in: defaults, first choices, and a word where neither is there.
function filled({ properties = {} } = {}) {
  const value = (member) => member.default ?? member.enum?.[0] ?? member.oneOf?.[0]?.const
    ?? (member.type === 'array' ? [] : member.type === 'boolean' ? true : member.type === 'string' ? 'Ada' : member.minimum ?? 1);
  return Object.fromEntries(Object.entries(properties).filter(([, member]) => !member.format).map(([name, member]) => [name, value(member)]));
}

// Connects. `way` is { stdio: parameters } or { url, headers }. The client has `asked` (the questions that it answered)
// and `heard` (the notifications that came), both in their order. With `plain`, it can answer nothing.
export async function connect(kind, way, { plain = false } = {}) {
  const first = kind === kinds[0];
  const info = { name: 'mcpbx-test', version: '1.0.0' };
  const client = first ? new Client1(info, { capabilities: plain ? {} : capabilities })
    : new Client2(info, { capabilities: plain ? {} : capabilities, versionNegotiation: { mode: modes[kind] } });
  client.asked = [];
  client.heard = [];
  const answers = {
    'elicitation/create': (params) => (params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: filled(params.requestedSchema) }),
    'sampling/createMessage': () => ({ role: 'assistant', model: 'test', content: { type: 'text', text: 'sampled words' } }),
    'roots/list': () => ({ roots: [{ uri: 'file:///of/the/caller', name: 'caller' }] }),
  };
  for (const [method, answer] of plain ? [] : Object.entries(answers))
    client.setRequestHandler(first ? requests[method] : method, (request) => {
      client.asked.push({ method, params: request.params });
      return answer(request.params);
    });
  for (const [method, schema] of Object.entries(notifications))
    client.setNotificationHandler(first ? schema : method, (notification) => { client.heard.push({ method, params: notification.params }); });
  const [Stdio, Http] = first ? [Stdio1, Http1] : [Stdio2, Http2];
  await client.connect(way.stdio ? new Stdio({ stderr: 'inherit', ...way.stdio }) : new Http(new URL(way.url), { requestInit: { headers: way.headers ?? {} } }));
  return client;
}

// Resolves when `holds` gives something true; fails after half a minute.
export async function until(name, holds) {
  for (let turn = 0; ; turn++) {
    const value = await holds();
    if (value) return value;
    if (turn > 600) throw new Error(`never: ${name}`);
    await new Promise((ok) => setTimeout(ok, 50));
  }
}
