// Servers at addresses that misbehave, all at once in one daemon beside a good one: while they are opened, in calls, and in
// logins. Each fault has one sentence that names the server, the stage and a way out; nothing hangs; the good server's calls
// go on; no secret that passed is in anything that mcpbx wrote or said.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { Daemon, bin, checks } from './lib.mjs';
import { FaultyServer, ways } from './remote/faulty_server.mjs';
import { sayYes } from './remote/protected_server.mjs';

const server = await FaultyServer.start();
// While a server is opened: the kind of trouble, and the end of what `mcpbx servers` says.
const opening = {
  page: ['protocol', /initialize was answered with the content type "text\/html", which is none of MCP's, .*; check the "url" of its entry$/],
  half: ['unreachable', /cannot be used: .* closed the connection in the middle of its answer$/],
  garbage: ['protocol', /answered initialize with nothing usable: the request was answered with something that is no message \(invalid JSON at byte 1\)/],
  bomb: ['protocol', /cannot be used: .* sent an answer in a compression that was not asked for \("gzip"\); check the "url"/],
  circle: ['refused', /redirects in a circle \(HTTP status 307\)$/],
  elsewhere: ['refused', /redirects to another address \(HTTP status 307\), and headers are not sent there; if that is right, write it as "url"$/],
  refuse401: ['unauthorized', /refuses the Authorization header of its entry \(HTTP status 401\); give a token that is valid in its "headers"$/],
  refuse403: ['refused', /refuses requests \(HTTP status 403: "not for you"\); check the "headers" of its entry$/],
  busyHour: ['refused', /takes no requests now \(HTTP status 429\); the server asks for a wait of 3600 s$/],
  busy: ['refused', /takes no requests now \(HTTP status 429\)$/],
  down: ['refused', /takes no requests now \(HTTP status 503: "upstream connect error"\)$/],
  hang: ['slow', /was not ready within 1 s: it did not answer server\/discover$/],
  reset: ['unreachable', /cannot be used: .* closed the connection without an answer$/],
  comments: ['slow', /was not ready within 1 s: it did not answer server\/discover$/],
  hugeHead: ['protocol', /sent an answer that is not HTTP: header limit exceeded; check the "url"/],
  accepted: ['protocol', /answered initialize with nothing usable: the request was accepted \(HTTP status 202\) and not answered$/],
  otherId: ['protocol', /answered initialize with nothing usable: the request was answered with a text that is no answer to it$/],
};
const silent = /gave no sign of life for 1 s$/;
// In a call of a server that was opened well: the answer, and what the caller is told after the server's and the tool's name.
const calls = {
  callPage: ['page', /was answered with the content type "text\/html", which is none of MCP's$/],
  callHalf: ['half', /got no whole answer, and it is not known whether it did what was asked: .* closed the connection in the middle of its answer$/],
  callGarbage: ['garbage', /was answered with something that is no message \(invalid JSON at byte 1\)/],
  callBomb: ['bomb', /got no whole answer, and it is not known whether it did what was asked: .* sent an answer in a compression that was not asked for \("gzip"\)$/],
  callCircle: ['circle', /was refused: the server redirects in a circle \(HTTP status 307\)$/],
  callElsewhere: ['elsewhere', /was refused: the server redirects to another address .*; if that is right, write it as "url"$/],
  callHang: ['hang', silent], callComments: ['comments', silent], callFlood: ['flood', silent],
  callReset: ['reset', /got no answer, and it is not known whether it did what was asked: .* closed the connection without an answer$/],
  callCut: ['cutStream', /lost its stream before its answer .*, and it is not known whether it did what was asked$/],
  callOtherId: ['otherId', /was answered with a text that is no answer to it$/],
  callAccepted: ['accepted', /was accepted \(HTTP status 202\) and not answered$/],
  callBusyHour: ['busyHour', /was refused \(HTTP status 429\); the server asks for a wait of 3600 s$/],
  callDown: ['down', /was refused \(HTTP status 503: "upstream connect error"\), and it is not known whether it did what was asked$/],
  call401: ['refuse401', /was not looked at: the server refuses the Authorization header .*; give a token that is valid in its "headers"$/],
  call403: ['refuse403', /was answered with HTTP status 403: "not for you"; check that the "headers" of its entry give the right to it$/],
  callRights: ['moreRights', /was answered with HTTP status 403; check that the "headers" of its entry give the right to it$/],
  callQuote: ['quote', /answered the call of callQuote__do with an error \(-32000\): the token \*\*\* is no good$/],
};
// In a login: the step whose answer is wrong, the answer, and what `mcpbx auth login` says after the server's name.
const document = /the resource metadata at "http:\S+\/\.well-known\/oauth-protected-resource\/\w+\/mcp" /.source;
const logins = {
  docPage: ['resource', ways.page, new RegExp(`${document}is a web page, not JSON$`)],
  docRedirect: ['resource', ways.redirect, new RegExp(`${document}cannot be read: HTTP status 302, a redirect, which mcpbx does not follow here$`)],
  docLarge: ['resource', ways.large, /protected-resource\/docLarge\/mcp" cannot be asked: .* an answer above the limit of 1048576 bytes$/],
  docBomb: ['resource', ways.bomb, /protected-resource\/docBomb\/mcp" cannot be asked: .* an answer above the limit of 1048576 bytes when unpacked$/],
  docOther: ['resource', (d) => ({ ...d, resource: 'https://honest.example/mcp' }), new RegExp(`${document}is about another resource, "https://honest.example/mcp"`)],
  docPrivate: ['resource', (d) => ({ ...d, authorization_servers: ['http://169.254.169.254/'] }), /its authorization server must begin with https:\/\/ \(169\.254\.169\.254\)$/],
  issuerOther: ['issuer', (d) => ({ ...d, issuer: 'https://honest.example' }), /the metadata of the authorization server at .* names another issuer, "https:\/\/honest\.example", than the one asked/],
  issuerLarge: ['issuer', ways.large, /oauth-authorization-server\/issuerLarge" cannot be asked: .* an answer above the limit of 1048576 bytes$/],
  issuerBroken: ['issuer', ways.broken, /the metadata of the authorization server at .* cannot be read: HTTP status 500$/],
  issuerPlain: ['issuer', ({ code_challenge_methods_supported: _, ...d }) => d, /does not say that it knows PKCE with S256, so a login would not be safe$/],
  registerNo: ['register', ways.refuse403, /refused the registration of mcpbx: HTTP status 403; if it takes none, register mcpbx there and set auth\.clientId in the server's entry$/],
  registerReset: ['register', ways.reset, /the login cannot go on, since ".*\/register" cannot be asked: .* closed the connection without an answer$/],
  answerIssuer: ['authorize', (a) => ({ ...a, iss: 'https://honest.example' }), /the login failed: the answer came from another authorization server than the one asked$/],
  answerSlash: ['authorize', (a) => ({ ...a, iss: `${a.iss}/` }), /the login failed: the answer came from another authorization server than the one asked$/],
  answerNo: ['authorize', (a) => ({ ...a, error: 'access_denied', error_description: `not with ${a.code}` }), /the login failed: the authorization server answered access_denied: not with \*\*\*$/],
  tokenPage: ['token', ways.page, /its token answer is a web page, not JSON$/],
  tokenHalf: ['token', ways.half, /the login cannot go on, since ".*\/token" cannot be asked: .* in the middle of its answer$/],
  tokenEmpty: ['token', () => ({ token_type: 'Bearer' }), /its token answer has no access_token that could be sent$/],
  // All that was sent comes back in the words of the refusal.
  tokenQuotes: ['token', ways.quoteForm, /gave no token: HTTP status 400 \(invalid_grant: authorization_code \*\*\* \S+\/callback \*\*\* \S+ client-1 \*\*\*\)$/],
};
// Logins that do not end at a fault.
const lasting = {
  skew: { at: 'token', change: (answer) => ({ ...answer, expires_in: -86400 }) },  // the clock of its authorization server is wrong
  rotating: {},   // its keys change: every token that was given is refused
  forged: {},     // somebody else's answer comes first
};

const urlOf = (name) => `${server.base}/${name}/mcp`;
const entries = { good: { url: urlOf('good') }, ssh: { url: `http://127.0.0.1:${server.ssh.address().port}/mcp` }, tls: { url: urlOf('tls').replace('http:', 'https:') } };
const addFaulty = (name, fault) => {
  server.faults[name] = fault;
  // Only where nothing else ends the wait is its limit short, since other ends may come late on a busy machine.
  const limit = /^(hang|comments|call(Hang|Comments|Flood))$/.test(name) ? 1000 : 10_000;
  entries[name] = { url: urlOf(name), startTimeoutMs: limit, callTimeoutMs: limit, ...(fault.protected ? {} : { headers: { Authorization: `Bearer ${server.secret('header')}` } }) };
};
for (const name of Object.keys(opening)) addFaulty(name, { at: 'all', way: ways[name] });
for (const [name, [way]] of Object.entries(calls)) addFaulty(name, { at: 'tools/call', way: ways[way] });
for (const [name, [at, what]] of Object.entries(logins)) addFaulty(name, { protected: true, at, [Object.values(ways).includes(what) ? 'way' : 'change']: what });
for (const [name, fault] of Object.entries(lasting)) addFaulty(name, { protected: true, ...fault });
opening.ssh = ['protocol', /sent an answer that is not HTTP: bad version; check the "url"/];
opening.tls = ['certificate', /cannot be trusted: .* the TLS handshake failed: .*; if its certificate is right, name the authority's file as "caFile"$/];

const model = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
model.addFixture({ match: { userMessage: 'go', hasToolResult: false }, response: { toolCalls: [{ name: 'callQuote__do', arguments: '{}' }] } });
model.addFixture({ match: { userMessage: 'go' }, response: { content: 'Gone.' } });
await model.start();

const started = Date.now();
const d = await Daemon.start({
  mcpServers: entries, log: { level: 'trace' }, audit: true, defaultModel: 'mock',
  models: { mock: { api: 'openai-chat', baseUrl: `http://127.0.0.1:${model.port ?? new URL(model.url).port}/v1`, model: 'mock', apiKey: '${env:MOCK_KEY}' } },
}, { env: { MOCK_KEY: 'mock-key-0123456789', DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '', DBUS_SESSION_BUS_ADDRESS: '' } });
let said = '';
const cli = async (...args) => {
  const ran = await d.mcpbx(...args);
  said += ran.stdout + ran.stderr;
  return ran;
};
// `mcpbx auth login NAME --no-browser`; the person follows the address after `before`. Resolves with its status and what it said.
async function logIn(name, before = async () => {}) {
  const child = spawn(path.join(bin, 'mcpbx'), ['--socket', d.socket, 'auth', 'login', name, '--no-browser'], { env: d.env, stdio: ['pipe', 'pipe', 'pipe'] });
  let err = '', answered = false;
  child.stderr.setEncoding('utf8').on('data', async (words) => {
    err += words;
    const address = /^ *(http:\S+\/authorize\?\S+)$/m.exec(err)?.[1];
    if (!address || answered) return;
    answered = true;
    await before(address);
    await fetch(await sayYes(address));
  });
  const status = await new Promise((ended) => child.on('close', ended));
  err = err.replace(/^ *http:\S+\/authorize\?\S+$/gm, '').trimEnd();  // the address is for the person
  said += err;
  return { status, err };
}
// Takes off the command that helps, which each error ends with.
function withoutCommand(sentence) {
  const found = /^(.*?)(?:; )?`mcpbx [^`]+`[^`]{0,60}$/s.exec(sentence);
  assert.ok(found, `no command at the end: ${sentence}`);
  return found[1];
}
const pause = (ms) => new Promise((later) => setTimeout(later, ms));
const all = (list, work) => Promise.all(Object.entries(list).map(([name, what]) => work(name, what)));
const served = (name) => server.visits[name] ?? 0;

// Logs in, and waits until the server is there again.
async function use(name) {
  assert.equal((await logIn(name)).status, 0);
  const state = async () => JSON.parse((await cli('--json', 'servers')).stdout).find((entry) => entry.name === name).state;
  while (await state() !== 'ready') { assert.ok(Date.now() - started < 30_000, name); await pause(30); }
}

// The good server is called all the time.
let goodCalls = 0, slowest = 0, over = false;
async function callTheGoodOne() {
  const c = d.caller();
  await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
  for (; !over; goodCalls++) {
    const before = Date.now();
    const r = await c.request('tools/call', { name: 'good__do', arguments: {} });
    assert.equal(r.result?.content?.[0]?.text, 'done by good', JSON.stringify(r));
    slowest = Math.max(slowest, Date.now() - before);
    await pause(5);
  }
  c.close();
}
let good;

await checks({
  'G7: the good server answers while all others are opened': async () => {
    for (let made; made?.status !== 0;) { made = await cli('call', 'good__do'); assert.ok(Date.now() - started < 10_000, made.stderr); }
    good = callTheGoodOne();
  },
  'G8: each server that cannot be opened is explained': async () => {
    const wrong = async () => {
      const list = JSON.parse((await cli('--json', 'servers')).stdout);
      return Object.entries(opening).filter(([name, [problem, words]]) => {
        const { state, lastError = '', remote } = list.find((entry) => entry.name === name);
        return state === 'ready' || remote.problem !== problem || !lastError.startsWith(`tool server "${name}" `) || !words.test(lastError);
      }).map(([name]) => JSON.stringify(list.find((entry) => entry.name === name)));
    };
    let left;
    while ((left = await wrong()).length > 0) { assert.ok(Date.now() - started < 15_000, left.join('\n')); await pause(100); }
    assert.equal(server.stolen, 0, 'headers went to another origin');
  },
  'G14: each call that goes wrong ends at once or at its limit, with a sentence': () => all(calls, async (name, [, words]) => {
    const before = Date.now();
    const r = await cli('call', `${name}__do`);
    assert.notEqual(r.status, 0, name);
    const sentence = withoutCommand(r.stderr.trimEnd());
    assert.match(sentence, new RegExp(`tool server "${name}".*${name}__do`));
    assert.match(sentence, words);
    assert.ok(Date.now() - before < 10_000, name);
  }),
  'each login that goes wrong ends with a sentence, and leaves nothing behind': () => all(logins, async (name, [, , words]) => {
    const r = await logIn(name);
    assert.notEqual(r.status, 0, name);
    const sentence = withoutCommand(r.err.split('\n').at(-1));
    assert.ok(sentence.startsWith(`mcpbx: server "${name}": `), sentence);
    assert.match(sentence, words);
    const [status] = JSON.parse((await cli('--json', 'auth', 'status', name)).stdout);
    assert.equal(status.state, 'none', JSON.stringify(status));
  }),
  'a forged answer to a login changes nothing, and the right one still counts': async () => {
    const r = await logIn('forged', async (address) => {
      const back = new URL(new URL(address).searchParams.get('redirect_uri'));
      for (const [key, value] of Object.entries({ code: 'forged', state: 'forged', iss: `${server.base}/forged` })) back.searchParams.set(key, value);
      assert.equal((await fetch(back)).status, 400);
    });
    assert.equal(r.status, 0, r.err);
    assert.equal(server.worlds.forged.logins, 1);
  },
  'tokens of a server whose clock is wrong are used, and not renewed for each call': async () => {
    await use('skew');
    for (let i = 0; i < 5; i++) assert.equal((await cli('call', 'skew__do')).status, 0);
    assert.ok(server.worlds.skew.renewals <= 2, `${server.worlds.skew.renewals} renewals`);
  },
  'tokens that are refused since the keys have changed are renewed once, and no call is lost': async () => {
    await use('rotating');
    const { rotating } = server.worlds;
    rotating.access.clear();
    const made = await cli('call', 'rotating__do');
    assert.equal(made.status, 0, made.stderr);
    assert.equal(rotating.renewals, 1);
    rotating.access.clear();  // the new one, too: that is no matter of a renewal
    assert.match((await cli('call', 'rotating__do')).stderr, /refuses the token that its authorization server has just given/);
    assert.equal(rotating.renewals, 1);
  },
  'a run goes on with the error of a server that quotes its token, without the token': async () => {
    const c = d.caller();
    const r = await c.request('mcpbx/chat', { model: 'mock', input: 'go' });
    const heard = JSON.stringify(r) + JSON.stringify(c.events());
    said += heard;
    c.close();
    assert.equal(r.result?.text, 'Gone.', JSON.stringify(r));
    assert.match(heard, /the token \*\*\* is no good/);
  },
  'G10: nobody is asked in a storm': () => {
    const most = Object.keys(server.visits).filter((name) => name !== 'good' && served(name) > 80);
    assert.deepEqual(most, [], JSON.stringify(server.visits));
  },
  'G4: the good server was not disturbed': async () => {
    over = true;
    await good;
    assert.ok(goodCalls > 20, `${goodCalls} calls`);
    assert.ok(slowest < 3000, `a call of the good server took ${slowest} ms`);
  },
  'G35: no secret is in a log at trace level, a status, an event, an error, the audit or the journal': async () => {
    for (const verb of [['servers'], ['--json', 'servers'], ['status'], ['--json', 'status'], ['auth', 'status'], ['--json', 'auth', 'status'], ['audit']]) await cli(...verb);
    await d.stop({ keep: true });
    assert.match(d.log, / trace | debug /, 'the log says little, so this would prove nothing');
    const places = { 'what mcpbx said': said, 'the log': d.log };
    for (const file of fs.readdirSync(d.folder, { recursive: true })) {
      const whole = path.join(d.folder, file);
      if (!['credentials.json', 'config.json'].includes(path.basename(file)) && fs.statSync(whole).isFile()) places[file] = fs.readFileSync(whole, 'latin1');
    }
    assert.ok(Object.keys(places).some((name) => /audit/.test(name)) && Object.keys(places).some((name) => /\.db|sqlite/.test(name)), Object.keys(places).join(' '));
    assert.ok(server.secrets.size > 80, `${server.secrets.size} secrets have passed`);
    for (const secret of server.secrets)
      for (const [place, text] of Object.entries(places)) {
        const at = text.indexOf(secret);
        assert.equal(at, -1, `${place} has a secret: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
      }
    fs.rmSync(d.folder, { recursive: true, force: true });
    server.stop();
    console.log(`${Object.keys(entries).length} servers, ${((Date.now() - started) / 1000).toFixed(1)} s; the slowest call of the good one took ${slowest} ms`);
    assert.ok(Date.now() - started < 40_000, `all of it took ${Date.now() - started} ms`);
  },
});
