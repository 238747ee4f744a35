// Drives a headless Chromium over its debugging protocol, with Node's own WebSocket. The program that is tested starts it,
// as it starts a person's browser; this side then looks at the page and clicks.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export function find() {
  for (const name of [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean))
    try { return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim(); } catch { /* the next one */ }
  throw new Error('there is no chromium; apt-get install chromium (scripts/deps --browser) installs it');
}

// A browser whose window, profile and number of its process are in `folder`.
export class Chromium {
  constructor(program, folder) {
    this.folder = folder;
    fs.mkdirSync(folder, { recursive: true });
    this.command = path.join(folder, 'browser.sh');  // what BROWSER names: it takes the address
    const options = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${path.join(folder, 'profile')}`, '--no-first-run',
      '--no-default-browser-check', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-sync',
      ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
    fs.writeFileSync(this.command, `#!/bin/sh\necho $$ > "${folder}/pid"\nexec "${program}" ${options.map((word) => `"${word}"`).join(' ')} "$1" > "${folder}/said" 2>&1\n`, { mode: 0o700 });
  }
  // Waits for the browser that somebody else starts, and takes hold of its only page.
  async attach() {
    const file = path.join(this.folder, 'profile', 'DevToolsActivePort');
    const [port, at] = await this.until('the browser is started', () => fs.existsSync(file) && fs.readFileSync(file, 'utf8').trim().split('\n').length === 2 &&
      fs.readFileSync(file, 'utf8').trim().split('\n'));
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${at}`);
    await new Promise((ok, no) => { this.socket.onopen = ok; this.socket.onerror = (event) => no(new Error(event.message ?? 'the browser closed the link')); });
    this.waiting = new Map();
    this.next = 1;
    this.socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      const waits = this.waiting.get(id);
      this.waiting.delete(id);
      if (waits) error ? waits.no(new Error(error.message)) : waits.ok(result);
    };
    const page = await this.until('a page', async () => (await this.send('Target.getTargets')).targetInfos.find((target) => target.type === 'page'));
    this.page = (await this.send('Target.attachToTarget', { targetId: page.targetId, flatten: true })).sessionId;
  }
  send(method, params = {}) {
    const id = this.next++;
    return new Promise((ok, no) => {
      this.waiting.set(id, { ok, no });
      this.socket.send(JSON.stringify({ id, method, params, ...(this.page ? { sessionId: this.page } : {}) }));
    });
  }
  // The value of an expression in the page; nothing while one page gives way to the next.
  async value(expression) {
    try { return (await this.send('Runtime.evaluate', { expression, returnByValue: true })).result.value; } catch { return undefined; }
  }
  text() { return this.value('document.readyState === "complete" ? document.body.innerText : undefined'); }
  address() { return this.value('location.href'); }
  async shows(pattern) { return this.until(`a page with ${pattern}`, async () => { const text = await this.text(); return text !== undefined && pattern.test(text) && text; }); }
  // Clicks on the middle of the only button with these words, as a mouse does.
  async click(words) {
    const spot = await this.until(`the button ${words}`, () => this.value(`(() => {
      const found = [...document.querySelectorAll('button')].filter((button) => button.innerText.trim() === ${JSON.stringify(words)});
      if (found.length !== 1) return;
      const box = found[0].getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`));
    for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', { type, ...spot, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: type === 'mouseMoved' ? 0 : 1 });
  }
  async until(what, look) {
    for (const end = Date.now() + 30_000; Date.now() < end; await pause(50)) {
      const found = await look();
      if (found) return found;
    }
    const said = path.join(this.folder, 'said');
    assert.fail(`the browser did not come to this in 30 s: ${what}. It shows ${await this.address()}: ${await this.text()}\n${
      fs.existsSync(said) ? fs.readFileSync(said, 'utf8').slice(-1500) : 'it was not started'}`);
  }
  // Ends the browser, if it was started.
  stop() {
    this.socket?.close();
    const file = path.join(this.folder, 'pid');
    if (!fs.existsSync(file)) return;
    try { process.kill(Number(fs.readFileSync(file, 'utf8')), 'SIGKILL'); } catch { /* it has ended */ }
    fs.rmSync(file);
  }
}
