// Writes what a test found between two marks of docs/interop.md, so that the tables there are never written by hand.
import fs from 'node:fs';
import path from 'node:path';
import { here } from './lib.mjs';

// Replaces the part NAME, which stands between `<!-- NAME: … -->` and `<!-- end of NAME -->`.
export function writePart(name, lines) {
  const file = path.join(here, '..', '..', 'docs', 'interop.md');
  const text = fs.readFileSync(file, 'utf8');
  const part = new RegExp(`(<!-- ${name}: [^>]*-->\n)[\\s\\S]*?(<!-- end of ${name} -->)`);
  if (!part.test(text)) throw new Error(`${file} has no part ${name}`);
  fs.writeFileSync(file, text.replace(part, (_, first, last) => `${first}${lines.join('\n')}\n${last}`));
}
