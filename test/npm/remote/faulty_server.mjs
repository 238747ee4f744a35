// An HTTP server with one good MCP server and many that misbehave, each below its own name: /NAME/mcp is the tool server and
// /NAME its authorization server. A fault replaces one answer of the good one. What is secret has the word `canary` in it.
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';

const bomb = gzipSync(Buffer.alloc(64 << 20));
const page = '<!doctype html><html><body>Please log in to the network</body></html>';

// Ways to misbehave: each gets what an answer may need.
export const ways = {
  page: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(page),
  half: ({ response, socket }) => { response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5000 }).write('{"jsonrpc":"2.0",'); setTimeout(() => socket.destroy(), 20); },
  garbage: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{{{ canary-garbage'),
  bomb: ({ response }) => response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
  circle: ({ request, response }) => response.writeHead(307, { location: request.url }).end(),
  elsewhere: ({ response, server }) => response.writeHead(307, { location: `http://127.0.0.1:${server.elsewhere.address().port}/mcp` }).end(),
  refuse401: ({ response }) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
  refuse403: ({ response }) => response.writeHead(403).end('not for you'),
  moreRights: ({ response }) => response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' }).end(),
  busyHour: ({ response }) => response.writeHead(429, { 'retry-after': '3600' }).end(),
  busy: ({ response }) => response.writeHead(429).end(),
  down: ({ response }) => response.writeHead(503).end('upstream connect error'),
  hang: () => {},
  reset: ({ socket }) => socket.destroy(),
  comments: ({ response }) => { response.writeHead(200, { 'content-type': 'text/event-stream' }); const more = setInterval(() => response.write(': go on\n\n'), 50); response.on('close', () => clearInterval(more)); },
  flood: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const note = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(200) } })}\n\n`.repeat(50);
    const more = setInterval(() => response.write(note), 20);
    response.on('close', () => clearInterval(more));
  },
  cutStream: ({ response, socket }) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":"2.0","id":'); setTimeout(() => socket.destroy(), 20); },
  hugeHead: ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\nX-More: ${'x'.repeat(1 << 20)}\r\n\r\n`),
  otherId: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":"canary-of-another","result":{}}'),
  accepted: ({ response }) => response.writeHead(202).end(),
  quote: ({ response, message, token }) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id,
    error: { code: -32000, message: `the token ${token} is no good`, data: { headers: { authorization: `Bearer ${token}` } } } })),
  redirect: ({ response }) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  quoteForm: ({ response, text }) => response.writeHead(400, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: 'invalid_grant', error_description: [...new URLSearchParams(text).values()].join(' ') })),
  large: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"issuer":"${'x'.repeat(10 << 20)}"}`),
  broken: ({ response }) => response.writeHead(500).end(),
};

export class FaultyServer {
  secrets = new Set();
  faults = {};       // name → { at: the step whose answer is replaced, way, or change: (answer) => answer }
  visits = {};       // name → number of requests
  stolen = 0;        // requests with headers at the other origin
  worlds = {};       // name → codes, tokens

  static async start() {
    const s = new FaultyServer();
    const open = (listener) => new Promise((ready) => listener.listen(0, '127.0.0.1', () => ready(listener)));
    s.elsewhere = await open(http.createServer((request, response) => { s.stolen++; response.end(); }));
    s.ssh = await open(net.createServer((socket) => { socket.on('error', () => {}); socket.write('SSH-2.0-OpenSSH_9.2\r\n'); }));
    s.listener = await open(http.createServer((request, response) => s.serve(request, response)));
    s.base = `http://127.0.0.1:${s.listener.address().port}`;
    return s;
  }
  stop() { for (const l of [this.listener, this.elsewhere]) l.closeAllConnections(); for (const l of [this.listener, this.elsewhere, this.ssh]) l.close(); }

  secret(kind) {
    const text = `canary-${kind}-${randomBytes(12).toString('hex')}`;
    this.secrets.add(text);
    return text;
  }
  world(name) { return this.worlds[name] ??= { codes: new Map(), access: new Set(), refresh: new Set(), renewals: 0, logins: 0 }; }

  async serve(request, response) {
    const url = new URL(request.url, this.base);
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const [, wellKnown, rest] = /^(\/\.well-known\/[-a-z]+)?(\/.*)$/.exec(url.pathname);
    const [, name, last] = rest.split('/');
    const fault = this.faults[name] ?? {};
    const world = this.world(name);
    this.visits[name] = (this.visits[name] ?? 0) + 1;
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const message = last === 'mcp' && !wellKnown && text ? JSON.parse(text) : {};
    const step = wellKnown?.endsWith('protected-resource') ? 'resource' : wellKnown ? 'issuer' : last === 'mcp' ? message.method ?? 'listen' : last;
    // Words that come back in a fault are as secret as those that are checked.
    if (step === 'token') for (const key of ['code_verifier', 'client_secret', 'refresh_token']) if (new URLSearchParams(text).get(key)) this.secrets.add(new URLSearchParams(text).get(key));
    const means = { request, response, socket: request.socket, server: this, message, token, text, url, world };
    const json = (body, status = 200, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(fault.change && fault.at === step ? fault.change(body, means) : body));
    if (fault.way && (fault.at === 'all' ? last === 'mcp' && !wellKnown : fault.at === step)) return fault.way(means);
    const issuer = `${this.base}/${name}`;
    switch (step) {
      case 'resource': return json({ resource: `${issuer}/mcp`, authorization_servers: [issuer] });
      case 'issuer': return json({ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, registration_endpoint: `${issuer}/register`,
        code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['client_secret_post'], authorization_response_iss_parameter_supported: true });
      case 'register': return json({ client_id: 'client-1', client_secret: this.secret('client') }, 201);
      case 'authorize': {
        const asked = Object.fromEntries(url.searchParams), code = this.secret('code');
        world.codes.set(code, asked);
        this.secrets.add(asked.state);
        const back = new URL(asked.redirect_uri);
        const answer = { code, state: asked.state, iss: issuer };
        for (const [key, value] of Object.entries(fault.change && fault.at === step ? fault.change(answer, means) : answer)) back.searchParams.set(key, value);
        return response.writeHead(302, { location: back.href }).end();
      }
      case 'token': {
        const form = new URLSearchParams(text);
        if (form.get('grant_type') === 'refresh_token') {
          if (!world.refresh.delete(form.get('refresh_token'))) return json({ error: 'invalid_grant' }, 400);
          world.renewals++;
        } else {
          const asked = world.codes.get(form.get('code'));
          if (asked?.code_challenge !== createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')) return json({ error: 'invalid_grant' }, 400);
          world.logins++;
        }
        const tokens = { access_token: this.secret('access'), refresh_token: this.secret('refresh'), token_type: 'Bearer', expires_in: 3600 };
        world.access.add(tokens.access_token);
        world.refresh.add(tokens.refresh_token);
        return json(tokens);
      }
      default:
    }
    if (last !== 'mcp') return json({ error: 'not_found' }, 404);
    if (fault.protected && !world.access.has(token))
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${this.base}/.well-known/oauth-protected-resource/${name}/mcp"` }).end();
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (message.id === undefined) return response.writeHead(202).end();
    const result = (value) => json({ jsonrpc: '2.0', id: message.id, result: value });
    switch (message.method) {
      case 'initialize': return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name, version: '1' } });
      case 'tools/list': return result({ tools: [{ name: 'do', description: 'Does it', inputSchema: { type: 'object', properties: {} } }] });
      case 'tools/call': return result({ content: [{ type: 'text', text: `done by ${name}` }] });
      default: return json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } });
    }
  }
}
