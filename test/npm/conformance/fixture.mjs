// The fixture of the conformance table: an MCP server on the official SDK that offers all that the official suite's
// server scenarios ask for, in either era or both, over stdio or HTTP. It must pass the whole suite by itself.
//
// usage: fixture.mjs [--http PORT] [--era both|legacy|modern] [--page N]
//   --http PORT  serve http://127.0.0.1:PORT/mcp (0: any port) instead of stdio, and say the address on stdout
//   --era ERA    legacy: `initialize` alone; modern: 2026-07-28 alone
//   --page N     at most N entries in one answer of a list
import { parseArgs } from 'node:util';
import { ProtocolError, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { complete, object, prompts, read, resources, seal, templates, tools } from './offers.mjs';
import { extension, serveTasks } from './tasks.mjs';
import { serveHttp } from './http.mjs';

const { values: options } = parseArgs({ options: {
  http: { type: 'string' }, era: { type: 'string', default: 'both' }, page: { type: 'string', default: '0' } } });
const page = Number(options.page);

const lists = {
  tools: Object.entries(tools).map(([name, [description, , inputSchema]]) => ({ name, description, inputSchema: inputSchema ?? object() })),
  resources: Object.entries(resources).map(([uri, [name, mimeType]]) => ({ uri, name, mimeType })),
  resourceTemplates: templates,
  prompts: Object.entries(prompts).map(([name, [names]]) =>
    ({ name, description: `The prompt ${name}`, ...(names.length > 0 ? { arguments: names.map((argument) => ({ name: argument, required: true })) } : {}) })),
};
// One page of a list; the cursor is the number of the first entry.
function pageOf(key, cursor) {
  if (page === 0) return { [key]: lists[key] };
  const first = Number(cursor ?? 0);
  if (!Number.isInteger(first) || first < 0 || first > lists[key].length) throw new ProtocolError(-32602, 'There is no such page.');
  const next = first + page;
  return { [key]: lists[key].slice(first, next), ...(next < lists[key].length ? { nextCursor: `${next}` } : {}) };
}

// The SDK checks each answer to tools/call by the schema of a finished call. A task is none, so it goes around the check.
class Created { constructor(task) { this.task = task; } }
class FixtureServer extends Server {
  _wrapHandler(method, handler) {
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    const checked = super._wrapHandler(method, async (request, ctx) => {
      const result = await handler(request, ctx);
      if (result.resultType === 'task') throw new Created(result);
      return result;
    });
    return (request, ctx) => checked(request, ctx).catch((error) => {
      if (error instanceof Created) return error.task;
      throw error;
    });
  }
}

let published = null;  // over HTTP, where a notification has no connection of its own: the hub of open streams
function build({ era }) {
  const cache = { ttlMs: 60_000, cacheScope: 'public' };
  const server = new FixtureServer({ name: 'mcpbx-fixture', version: '1.0.0' }, {
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true, subscribe: true }, logging: {}, completions: {},
      ...(era === 'modern' ? { extensions: { [extension]: {} } } : {}) },
    instructions: 'Every scenario of the conformance suite has its tool here.',
    requestState: { verify: seal.verify },
    cacheHints: { 'tools/list': cache, 'prompts/list': cache, 'resources/list': cache, 'resources/templates/list': cache,
      'resources/read': { ttlMs: 1_000, cacheScope: 'private' } },
  });
  const watched = new Set();
  const notify = async (kind, uri) => {
    const update = kind === 'resource';
    if (published) update ? published.resourceUpdated(uri) : published[`${kind}Changed`]();
    if (update && era === 'legacy' && !watched.has(uri)) return;
    await server.notification(update ? { method: 'notifications/resources/updated', params: { uri } } : { method: `notifications/${kind}/list_changed` }).catch(() => {});
  };
  const call = (ctx) => ({ ctx, notify, era,
    capabilities: ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities() ?? {} });
  const find = (table, kind, name) => {
    if (!Object.hasOwn(table, name)) throw new ProtocolError(-32602, `There is no ${kind} ${name}.`);
    return table[name];
  };
  const on = (method, handler) => server.setRequestHandler(method, (request, ctx) => handler(request.params ?? {}, ctx));
  on('tools/list', ({ cursor }) => pageOf('tools', cursor));
  on('tools/call', async ({ name, arguments: args }, ctx) => find(tools, 'tool', name)[1](args ?? {}, call(ctx)));
  on('resources/list', ({ cursor }) => pageOf('resources', cursor));
  on('resources/templates/list', ({ cursor }) => pageOf('resourceTemplates', cursor));
  on('resources/read', ({ uri }) => {
    const contents = read(uri);
    if (!contents) throw new ResourceNotFoundError(uri);
    return { contents };
  });
  on('resources/subscribe', ({ uri }) => { watched.add(uri); return {}; });
  on('resources/unsubscribe', ({ uri }) => { watched.delete(uri); return {}; });
  on('prompts/list', ({ cursor }) => pageOf('prompts', cursor));
  on('prompts/get', async ({ name, arguments: args }, ctx) => {
    const said = await find(prompts, 'prompt', name)[1](args ?? {}, call(ctx));
    return Array.isArray(said) ? { messages: said } : said;
  });
  on('completion/complete', ({ argument }) => {
    const values = complete(argument.value);
    return { completion: { values, total: values.length, hasMore: false } };
  });
  if (era === 'modern') serveTasks(server);
  return server;
}

if (options.http !== undefined) published = await serveHttp(build, { port: Number(options.http), era: options.era, tools });
// As servers of the old era do it: an SDK of today would answer `server/discover`, too.
else if (options.era === 'legacy') await build({ era: 'legacy' }).connect(new StdioServerTransport());
else serveStdio(build, { legacy: options.era === 'modern' ? 'reject' : 'serve' });
