// A person who has only the address of a server gets its tools with `mcpbx auth login NAME` and one answer in the browser:
// mcpbx opens a headless Chromium, which shows the page of the authorization server, and a click on its button is the answer.
// Prints its checks one by one; ends with 1 at the first that fails.
//
// usage: browser.mjs      MCPBX_BIN: the folder of the built programs; CHROMIUM: the browser, if it is not in PATH
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Chromium, find } from './browser/chromium.mjs';
import { Daemon, bin, checks } from './lib.mjs';
import { ProtectedServer } from './remote/protected_server.mjs';

const program = find();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-browser-'));
const server = await ProtectedServer.start({ page: true });
const d = await Daemon.start({ mcpServers: { saas: { url: server.url } } }, { env: { DISPLAY: '', WAYLAND_DISPLAY: '', DBUS_SESSION_BUS_ADDRESS: '' } });
let browser, login;
process.on('exit', () => {
  browser?.stop();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
const state = async () => JSON.parse((await d.mcpbx('--json', 'auth', 'status', 'saas')).stdout)[0].state;

// Starts `mcpbx auth login saas` with a browser of its own, which shows the page that asks. Nobody types anything.
let turn = 0;
async function begin() {
  browser?.stop();
  browser = new Chromium(program, path.join(folder, `${++turn}`));
  const child = spawn(path.join(bin, 'mcpbx'), ['--socket', d.socket, 'auth', 'login', 'saas'], { env: { ...d.env, BROWSER: browser.command }, stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => child.kill('SIGKILL'));
  login = { said: '' };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (words) => { login.said += words; });
  login.ended = new Promise((ended) => child.on('close', ended));
  await browser.attach();
}

await checks({
  'of a server of which only the address is known mcpbx says which command helps': async () => {
    assert.notEqual((await d.mcpbx('wait', '--timeout', '20')).status, 0);
    assert.match((await d.mcpbx('servers')).stdout, /mcpbx auth login saas/);
    assert.equal(await state(), 'none');
  },
  '`mcpbx auth login saas` says who asks for what, and opens the browser at the page of the authorization server': async () => {
    await begin();
    const page = await browser.shows(/wants to use/);
    assert.match(page, /mcpbx wants to use .*\/mcp/);
    assert.ok((await browser.address()).startsWith(`${server.base}/authorize?`), await browser.address());
    assert.match(login.said, /Your browser has been opened/);
    for (const words of [`authorized by: +${server.base}`, `for: +${server.url}`, 'rights: +tools']) assert.match(login.said, new RegExp(words));
    assert.equal(server.logins, 0);
  },
  'a click on its button is the only answer: the browser ends at a page of mcpbx, and the login with status 0': async () => {
    await browser.click('Allow');
    await browser.shows(/mcpbx has the answer/);
    assert.match(await browser.address(), /^http:\/\/127\.0\.0\.1:\d+\//);
    assert.equal(await login.ended, 0, login.said);
    assert.match(login.said, /logged in to "saas"/);
    assert.equal(server.logins, 1);
  },
  'the page of mcpbx has nothing of the login in it': async () => {
    const page = await browser.value('document.documentElement.outerHTML');
    for (const secret of server.secrets) assert.ok(!page.includes(secret), page);
  },
  'its tools are there: listed, and called': async () => {
    await d.ready(30);
    assert.match((await d.mcpbx('tools')).stdout, /saas__greet/);
    const called = await d.mcpbx('call', 'saas__greet');
    assert.equal(called.status, 0, called.stderr);
    assert.match(called.stdout, /a protected greeting/);
    assert.equal(server.logins, 1);
  },
  'the port that the browser ended at is closed': async () => {
    const { origin } = new URL(await browser.address());
    await assert.rejects(fetch(origin));
  },
  'a click on the other button ends the login with a sentence, and there are no tools': async () => {
    assert.equal((await d.mcpbx('auth', 'logout', 'saas')).status, 0);
    await begin();
    await browser.click('Deny');
    assert.notEqual(await login.ended, 0, login.said);
    assert.match(login.said, /access_denied|refused|denied/);
    assert.equal(await state(), 'none');
    assert.notEqual((await d.mcpbx('call', 'saas__greet')).status, 0);
  },
  'the daemon ends': async () => {
    server.stop();
    await d.stop();
  },
});
