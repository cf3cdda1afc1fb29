import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const source = readFileSync(fileURLToPath(import.meta.resolve('accessibility-checker-engine/ace.js')), 'utf8');
/** Another engine, by the path of its file: axe-core is under MPL, so it is no dependency here. */
const axe = process.env['AXE'] === undefined ? undefined : readFileSync(process.env['AXE'], 'utf8');

/** What IBM's checker, and axe where its file is named, find wrong with the page as it is: rule, place, words. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(`globalThis.ace ?? (() => { ${source}; globalThis.ace = ace; })()`);
  const found = (await page.evaluate(CHECK)) as string[];
  if (axe === undefined) return found;
  await page.evaluate(axe);
  return [...found, ...((await page.evaluate(AXE)) as string[])];
}

const CHECK = `new ace.Checker().check(document, ['WCAG_2_1']).then(({ results }) => results
  .filter(({ value: [what, outcome] }) => what === 'VIOLATION' && outcome === 'FAIL')
  .map(({ ruleId, path, message }) => ruleId + ' ' + path.dom + ': ' + message))`;

const AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .flatMap(({ id, help, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' ') + ': ' + help)))`;
