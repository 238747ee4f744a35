// The doors of the fixture server over HTTP: Streamable HTTP for both eras at /mcp, and at /sse and /messages the
// transport of 2024-11-05, which has one stream and a second address for what callers say.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { NodeStreamableHTTPServerTransport, localhostHostValidation, localhostOriginValidation, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';

function refuse(response, status, code, message, id = null) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
}

// Events of all streams, numbered, so that a stream can be taken up where it broke off.
function eventStore() {
  const events = [];
  const at = (id) => Number(id.split(' ').at(-1));
  return {
    async storeEvent(stream, message) { events.push({ stream, message }); return `${stream} ${events.length - 1}`; },
    async getStreamIdForEventId(id) { return events[at(id)]?.stream; },
    async replayEventsAfter(id, { send }) {
      const stream = events[at(id)]?.stream;
      for (let next = at(id) + 1; next < events.length; next++)
        if (events[next].stream === stream && Object.keys(events[next].message).length > 0) await send(`${stream} ${next}`, events[next].message);
      return stream;
    },
  };
}

// Reads an Mcp-Param-* header: gives the header itself, or the text inside `=?base64?…?=`; nothing when that is not base64.
function headerText(value) {
  const inside = /^=\?base64\?(.*)\?=$/s.exec(value)?.[1];
  if (inside === undefined) return value;
  const bytes = Buffer.from(inside, 'base64');
  return bytes.toString('base64') === inside ? bytes.toString('utf8') : undefined;
}
// The first argument of a call that its header does not repeat, or nothing.
function unlike(schema, args, headers) {
  return Object.entries(schema?.properties ?? {}).find(([name, member]) => {
    const header = member['x-mcp-header'] && headers[`mcp-param-${member['x-mcp-header'].toLowerCase()}`];
    if (!member['x-mcp-header'] || (args?.[name] === undefined && header === undefined)) return false;
    return header === undefined || headerText(header) !== `${args?.[name]}`;
  })?.[0];
}

// Serves on 127.0.0.1 and says the address on stdout. Returns the hub that publishes changes to streams of the new era.
export async function serveHttp(build, { port, era, tools }) {
  const handler = createMcpHandler(build, { legacy: 'reject' });
  const modern = toNodeHandler(handler);
  const sessions = new Map();
  const store = eventStore();
  const hostIsOurs = localhostHostValidation();
  const originIsOurs = localhostOriginValidation();

  async function legacy(request, response, body) {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (id && !transport) return refuse(response, 404, -32001, 'There is no such session.');
    if (!transport) {
      if (body?.method !== 'initialize') return refuse(response, 400, -32000, 'A session begins with initialize.');
      transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, eventStore: store, retryInterval: 500,
        onsessioninitialized: (session) => sessions.set(session, transport) });
      transport.onclose = () => sessions.delete(transport.sessionId);
      await build({ era: 'legacy' }).connect(transport);
    }
    await transport.handleRequest(request, response, body);
  }
  async function oldest(request, response, url, body) {
    if (url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, transport);
      response.on('close', () => sessions.delete(transport.sessionId));
      return build({ era: 'legacy' }).connect(transport);
    }
    const transport = sessions.get(url.searchParams.get('sessionId'));
    return transport ? transport.handlePostMessage(request, response, body) : refuse(response, 404, -32001, 'There is no such session.');
  }
  async function serve(request, response) {
    if (!hostIsOurs(request, response) || !originIsOurs(request, response)) return;
    const url = new URL(request.url, 'http://127.0.0.1');
    let body;
    if (request.method === 'POST') {
      const parts = await request.toArray();
      try { body = JSON.parse(Buffer.concat(parts).toString('utf8')); } catch { return refuse(response, 400, -32700, 'That is not JSON.'); }
    }
    if (era !== 'modern' && (url.pathname === '/sse' || url.pathname === '/messages')) return oldest(request, response, url, body);
    if (url.pathname !== '/mcp') return refuse(response, 404, -32600, 'There is nothing here.');
    const isLegacy = era !== 'modern' &&
      (era === 'legacy' || request.headers['mcp-session-id'] !== undefined || request.method !== 'POST' || await isLegacyRequest(await toWebRequest(request, body)));
    if (isLegacy) return legacy(request, response, body);
    if (body?.method === 'tools/call') {
      const name = unlike(tools[body.params?.name]?.[2], body.params?.arguments, request.headers);
      if (name !== undefined) return refuse(response, 400, -32020, `The header of the argument ${name} does not say what the body says.`, body.id);
    }
    return modern(request, response, body);
  }
  const listener = http.createServer((request, response) => serve(request, response).catch((error) => {
    console.error('fixture:', error);
    if (!response.headersSent) refuse(response, 500, -32603, 'The fixture broke.');
  }));
  await new Promise((ready) => listener.listen(port, '127.0.0.1', ready));
  console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
  return handler.notify;
}
