// Numbers that README and docs/ show, from runs of the suites that measure them.
// FIGURES=docs/figures.jsonl npm test     adds what this run measured
// node test/docs/figures.ts                writes the figures into the pages
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { median } from '../bench/measured.ts';
import { wrapped } from './error-codes.ts';

const root = path.join(import.meta.dirname, '../..');
const ledger = path.join(root, 'docs/figures.jsonl');

/** So many runs of one figure count: older ones measured code that is gone. */
const RUNS = 5;
/** Times of a machine that had much else to do say nothing; they count only where there are no others. */
const BUSY_LOAD = 8;

interface Figure {
  what: string;
  value: number;
  unit?: string;
}

interface Noted {
  figure: string;
  value: number;
  unit: string;
  on: string;
  commit: string;
  /** The machine's load average of one minute, when it was noted. */
  load: number;
}

/** Adds what a suite measured to the file that FIGURES names; without it, does nothing. */
export function noteFigures(suite: string, figures: readonly Figure[]): void {
  const file = process.env['FIGURES'];
  if (file === undefined) return;
  const on = new Date().toISOString().slice(0, 10);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const load = Number(loadavg()[0]?.toFixed(1));
  for (const { what, unit = '', value } of figures) {
    const line: Noted = { figure: `${suite}: ${what}`, value: Number(value.toPrecision(4)), unit, on, commit, load };
    appendFileSync(path.resolve(root, file), `${JSON.stringify(line)}\n`);
  }
}

/** The page with each `<!--figure NAME-->...<!--/-->` filled, and README with its section of figures and its demo. */
export function withFigures(page: string, text: string): string {
  const filled = text.replaceAll(
    /<!--figure ([^>]+?)-->[^<]*<!--\/-->/g,
    (_, name: string) => `<!--figure ${name}-->${figure(name)}<!--/-->`,
  );
  return page === 'README.md'
    ? withDemo(filled).replace(/(?<=with their range\.\n\n)- [^]*?(?=\n\nThe commands)/, measured)
    : filled;
}

/** README's figures, whose names are those of the suites. */
function measured(): string {
  const calls = (others: number): string => figure(`calls of a hire: onboarding skip, 1 at once, ${others} others`);
  return [
    `- ${figure('lost answers: settled')} of ${figure('lost answers: played')} requests whose answer was lost: ` +
      'settled without a second employee or enrolment.',
    `- One hire: ${calls(0)} calls to the partner without onboarding, ${calls(5_000)} with 5,000 others in the stage.`,
    `- README's walk: ${figure("README's walk: commands")} commands, ${figure("README's walk: time")}. The package: ` +
      `${figure('package: size')}. \`npm test\`: ${figure('npm test: tests')} tests in ${figure('npm test: time')}.`,
  ]
    .map((line) => wrapped(line, '  '))
    .join('\n');
}

/** Times swing with the machine; everything else is what the last run says. */
function figure(name: string): string {
  const all = noted().filter((one) => one.figure === name);
  const last = all.at(-1);
  if (last === undefined) throw new Error(`No run of "${name}" is noted in docs/figures.jsonl.`);
  const quiet = all.filter(({ load }) => load < BUSY_LOAD);
  const times = (quiet.length > 0 ? quiet : all).slice(-RUNS);
  const isTime = ['s', 'min'].includes(last.unit);
  const runs = (isTime ? times : [last]).map(({ value }) => value);
  const unit = last.unit === '' ? '' : ` ${last.unit}`;
  const [least, most] = [Math.min(...runs), Math.max(...runs)];
  return `${brief(median(runs))}${unit}${least === most ? '' : ` (${brief(least)} to ${brief(most)})`}`;
}

function brief(value: number): string {
  const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 3 };
  return new Intl.NumberFormat('en', digits).format(value);
}

function noted(): Noted[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Noted);
}

const demoFile = path.join(root, 'docs/demo.txt');

/** Keeps what the demo printed, for the block that README shows of it. */
export function noteDemo(stdout: string): void {
  if (process.env['FIGURES'] !== undefined) writeFileSync(demoFile, stdout);
}

/** README with the lines of its demo, as the demo printed them the last time. */
function withDemo(readme: string): string {
  const printed = new Map(
    readFileSync(demoFile, 'utf8')
      .split('\n')
      .map((line) => [withoutValues(line), line]),
  );
  return readme.replace(/(?<=--once`, on two cores:\n\n```\n)[^]*?(?=```)/, (block) =>
    block.replaceAll(/^(?! {2}\.\.\.$).+$/gm, (line) => {
      const found = printed.get(withoutValues(line));
      if (found === undefined) throw new Error(`The demo does not print this line of README: ${line}`);
      return found.trimEnd();
    }),
  );
}

function withoutValues(line: string): string {
  return line
    .replaceAll(/\b[0-9a-f]{8}\b|[\d.]+/g, '#')
    .replaceAll(/ +/g, ' ')
    .trim();
}

function writePages(): void {
  const guides = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md'));
  for (const page of ['README.md', ...guides.map((name) => `docs/${name}`)]) {
    const text = readFileSync(path.join(root, page), 'utf8');
    const filled = withFigures(page, text);
    if (filled !== text) writeFileSync(path.join(root, page), filled);
  }
}

if (import.meta.main) writePages();
