// Runs the client scenarios of the official conformance suite, and compares what it says with what is pinned.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const here = path.dirname(fileURLToPath(import.meta.url));
const suite = path.join(here, '..', 'node_modules', '@modelcontextprotocol', 'conformance');
const pinned = path.join(here, 'expected_client.json');
export const expected = JSON.parse(fs.readFileSync(pinned, 'utf8'));
// The suite that is installed must be the one whose scenarios are pinned.
export const installed = JSON.parse(fs.readFileSync(path.join(suite, 'package.json'), 'utf8')).version;

// The client scenarios of a revision: those that count, and those that the suite runs beside them.
export function scenariosOf(revision) {
  const list = parse(fs.readFileSync(path.join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  return { required: list.client, extra: list.not_scored.filter((entry) => entry.leg === 'client').map((entry) => entry.scenario) };
}

// Runs the suite with these arguments beside the command that is the client. Gives for each scenario its checks that passed,
// each once, those that failed with the reason, and the verdict of the suite, which also minds how the client ended.
export async function run(command, args, env = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-suite-'));
  const child = spawn(process.execPath, [path.join(suite, 'dist', 'index.js'), 'client', '--command', command, ...args,
    '--timeout', '60000', '-o', path.join(folder, 'out')], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const hung = setTimeout(() => child.kill('SIGKILL'), 150_000);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (words) => { said += words; });
  const how = await new Promise((ended) => child.on('close', (code, signal) => ended(signal ?? code)));
  clearTimeout(hung);
  const found = {};
  const out = path.join(folder, 'out');
  for (const file of fs.existsSync(out) ? fs.readdirSync(out, { recursive: true }) : []) {
    if (path.basename(file) !== 'checks.json') continue;
    const checks = JSON.parse(fs.readFileSync(path.join(out, file), 'utf8'));
    const of = (...words) => checks.filter((check) => words.includes(check.status));
    found[path.dirname(file).replace(/-\d{4}-\d\d-\d\dT[-\d]+Z$/, '')] = {
      good: false, passed: [...new Set(of('SUCCESS').map((check) => check.id))].sort(),
      failed: of('FAILURE', 'WARNING').map((check) => ({ check: check.id, why: check.errorMessage ?? check.description ?? '' })) };
  }
  fs.rmSync(folder, { recursive: true, force: true });
  for (const [, mark, name] of said.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)) if (found[name]) found[name].good = mark === '✓';
  if (Object.keys(found).length === 1 && said.includes('✅ OVERALL: PASSED')) for (const one of Object.values(found)) one.good = true;
  if (Object.keys(found).length === 0) throw new Error(`the suite gave no results (${how}):\n${said.slice(-4000)}`);
  return { found, said };
}

// Compares a run with what is pinned: counts, losses, and excuses that were not needed. An excuse names checks that may fail;
// the other checks of its scenario must pass all the same.
export function judge(found, revision) {
  const excused = (name) => expected.impossible.find((entry) => [entry.scenario].flat().includes(name))?.checks ?? [];
  const lost = [], stale = [];
  const count = (names) => {
    const sum = { scenarios: 0, ofScenarios: names.length, checks: 0, ofChecks: 0 };
    for (const name of names) {
      const { good, passed, failed } = found[name] ?? { good: false, passed: [], failed: [{ check: '(no result)', why: 'the suite said nothing of it' }] };
      const wanted = expected.revisions[revision]?.[name] ?? [];
      const missing = wanted.filter((check) => !passed.includes(check));
      const bad = failed.filter((entry) => !excused(name).includes(entry.check));
      for (const check of missing) if (!bad.some((entry) => entry.check === check)) lost.push({ scenario: name, check, why: 'was not reached' });
      for (const { check, why } of bad) lost.push({ scenario: name, check, why });
      if (excused(name).length === 0 && !good && bad.length === 0) lost.push({ scenario: name, check: '(ending)', why: 'the client ended with an error' });
      if (excused(name).length > 0 && good) stale.push(name);
      sum.checks += wanted.length - missing.length;
      sum.ofChecks += new Set([...wanted, ...excused(name)]).size;
      sum.scenarios += good && missing.length === 0;
    }
    return sum;
  };
  const { required, extra } = scenariosOf(revision);
  return { required: count(required), extra: count(extra), lost, stale };
}

// Pins what runs showed, in a form that people can read and compare.
export function pin(founds) {
  const lines = (entries) => entries.map((entry) => `   ${entry}`).join(',\n');
  const revisions = Object.entries(founds).map(([revision, found]) => {
    const { required, extra } = scenariosOf(revision);
    return `  ${JSON.stringify(revision)}: {\n${lines([...required, ...extra].map((name) => `${JSON.stringify(name)}: ${JSON.stringify(found[name]?.passed ?? [])}`))}\n  }`;
  });
  fs.writeFileSync(pinned, `{\n "suite": ${JSON.stringify(installed)},\n "revisions": {\n${revisions.join(',\n')}\n },\n "impossible": [\n${
    lines(expected.impossible.map((entry) => JSON.stringify(entry)))}\n ]\n}\n`);
}
