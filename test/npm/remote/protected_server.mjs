// A protected MCP server of the old era with its authorization server, on one port. Registrations are public clients; tokens
// hold until they are taken back. With `page` its authorization page asks a person, by two buttons. Everything secret that passes has the word `canary` in it or is remembered in `secrets`.
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';

export class ProtectedServer {
  secrets = new Set();   // all that must be seen nowhere else
  codes = new Map();     // code → the request for it
  access = new Set();    // tokens that hold
  refresh = new Set();
  logins = 0;
  renewals = 0;
  greeted = 0;
  callsLeft = 0;
  used = [];             // for each call its token, and whatever else its headers have

  static async start({ page = false } = {}) {
    const server = new ProtectedServer();
    server.page = page;
    server.listener = http.createServer((request, response) => server.serve(request, response));
    await new Promise((ready) => server.listener.listen(0, '127.0.0.1', ready));
    server.base = `http://127.0.0.1:${server.listener.address().port}`;
    server.url = `${server.base}/mcp`;
    return server;
  }
  stop() { this.listener.closeAllConnections(); this.listener.close(); }

  secret(kind) {
    const text = `canary-${kind}-${randomBytes(12).toString('hex')}`;
    this.secrets.add(text);
    return text;
  }
  tokens() {
    const answer = { access_token: this.secret('access'), refresh_token: this.secret('refresh'), token_type: 'Bearer', expires_in: 3600 };
    this.access.add(answer.access_token);
    this.refresh.add(answer.refresh_token);
    return answer;
  }
  // Takes back the access tokens after so many calls: the next request is refused, and the refresh token brings a new one.
  expireAfter(calls) { this.callsLeft = calls; }
  revoke() { this.access.clear(); this.refresh.clear(); }

  async serve(request, response) {
    const url = new URL(request.url, this.base);
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const json = (body, status = 200, headers = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json({ resource: this.url, authorization_servers: [this.base], scopes_supported: ['tools'] });
      case '/.well-known/oauth-authorization-server':
        return json({ issuer: this.base, authorization_endpoint: `${this.base}/authorize`, token_endpoint: `${this.base}/token`,
          registration_endpoint: `${this.base}/register`, response_types_supported: ['code'], grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'], authorization_response_iss_parameter_supported: true });
      case '/register':
        this.clientName = JSON.parse(text).client_name;
        return json({ ...JSON.parse(text), client_id: 'client-1' }, 201);
      case '/authorize': {
        const asked = Object.fromEntries(url.searchParams);
        if (this.page && request.method !== 'POST')
          return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html><title>Authorize</title>
            <p>${this.clientName} wants to use ${this.url}</p>
            <form method="post"><button name="answer" value="yes">Allow</button> <button name="answer" value="no">Deny</button></form>`);
        if (this.page && new URLSearchParams(text).get('answer') !== 'yes') {
          const back = new URL(asked.redirect_uri);
          for (const [name, value] of Object.entries({ error: 'access_denied', state: asked.state, iss: this.base })) back.searchParams.set(name, value);
          return response.writeHead(303, { location: back.href }).end();
        }
        const code = this.secret('code');
        this.codes.set(code, asked);
        this.secrets.add(asked.state);
        const back = new URL(asked.redirect_uri);
        for (const [name, value] of Object.entries({ code, state: asked.state, iss: this.base })) back.searchParams.set(name, value);
        return response.writeHead(this.page ? 303 : 302, { location: back.href }).end();
      }
      case '/token': return this.giveTokens(new URLSearchParams(text), json);
      case '/mcp': return this.serveMcp(request, response, text, json);
      default: return json({ error: 'not_found' }, 404);
    }
  }
  giveTokens(form, json) {
    if (form.get('grant_type') === 'refresh_token') {
      if (!this.refresh.delete(form.get('refresh_token'))) return json({ error: 'invalid_grant' }, 400);
      this.renewals++;
      return json(this.tokens());
    }
    const asked = this.codes.get(form.get('code'));
    this.codes.delete(form.get('code'));
    const verifier = form.get('code_verifier') ?? '';
    this.secrets.add(verifier);
    const proven = asked?.code_challenge === createHash('sha256').update(verifier).digest('base64url');
    if (!proven || form.get('resource') !== this.url || asked.resource !== this.url) return json({ error: 'invalid_grant' }, 400);
    this.logins++;
    return json(this.tokens());
  }
  serveMcp(request, response, text, json) {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (!this.access.has(token))
      return json({ error: 'invalid_token' }, 401, { 'www-authenticate': `Bearer resource_metadata="${this.base}/.well-known/oauth-protected-resource/mcp"` });
    if (request.method !== 'POST') return json({ error: 'no stream here' }, 405);
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const result = (value) => json({ jsonrpc: '2.0', id, result: value });
    const empty = { type: 'object', properties: {} };
    switch (method) {
      case 'initialize': return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'protected', version: '1' } });
      case 'tools/list': return result({ tools: [{ name: 'greet', description: 'Greets', inputSchema: empty }, { name: 'blab', description: 'Fails with the token in its words', inputSchema: empty }] });
      case 'tools/call':
        this.used.push({ token, headers: JSON.stringify(request.headers), who: params.arguments.who });
        if (params.name === 'greet') this.greeted++;
        if (--this.callsLeft === 0) this.access.clear();
        if (params.name === 'greet') return result({ content: [{ type: 'text', text: 'a protected greeting' }] });
        return json({ jsonrpc: '2.0', id, error: { code: -32000, message: `I was called with ${token}` } });
      default: return json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
    }
  }
}

// The person: says yes at the address of a login. Returns the address that the browser is sent to.
export async function sayYes(address) {
  const answer = await fetch(address, { redirect: 'manual' });
  return answer.headers.get('location');
}
