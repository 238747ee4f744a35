// Small servers on the official SDKs that listen at an address: 1.x with and without sessions, 2.x of both eras. Each has the
// tool `add`. At `/forget` one loses its sessions, as a server that is started again does.
//
// usage: sdk_servers.mjs sdk1|sdk1-stateless|sdk2      says the address on stdout
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server as Server1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Server as Server2, createMcpHandler } from '@modelcontextprotocol/server';

const kind = process.argv[2];
const about = [{ name: kind, version: '1.0.0' }, { capabilities: { tools: {} } }];
const number = { type: 'number' };
const tools = async () => ({ tools: [{ name: 'add', description: 'Adds two numbers', inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] } }] });
const call = async ({ params: { arguments: { a, b } } }) => ({ content: [{ type: 'text', text: `${a} + ${b} = ${a + b}` }] });
function build(server, list, called) {
  server.setRequestHandler(list, tools);
  server.setRequestHandler(called, call);
  return server;
}

const sessions = new Map();
async function serve1(request, response) {
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (!transport) {
    if (id) return response.writeHead(404).end();
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: kind === 'sdk1' ? randomUUID : undefined,
      onsessioninitialized: (session) => sessions.set(session, transport), onsessionclosed: (session) => sessions.delete(session) });
    await build(new Server1(...about), ListToolsRequestSchema, CallToolRequestSchema).connect(transport);
  }
  return transport.handleRequest(request, response);
}
const serve = kind === 'sdk2' ? toNodeHandler(createMcpHandler(() => build(new Server2(...about), 'tools/list', 'tools/call'))) : serve1;
const listener = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://x');
  if (pathname === '/mcp') return serve(request, response);
  if (pathname === '/forget') sessions.clear();
  response.writeHead(pathname === '/forget' ? 200 : 404).end();
});
listener.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
