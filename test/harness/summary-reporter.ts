import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { noteFigures } from '../docs/figures.ts';

const SLOWEST = 20;

/**
 * After a run: which tests were skipped and why, the slowest files, what failed, and the counts as one line. A test
 * that is skipped without saying why fails the run. With HIREBRIDGE_TEST_REPORT=FILE the counts and what failed are
 * written there as JSON.
 */
export class SummaryReporter implements Reporter {
  /** By a name on the command line all others are skipped, and everybody knows why. */
  private isFiltered = false;
  private startedAt = 0;

  onInit(vitest: Vitest): void {
    this.startedAt = performance.now();
    this.isFiltered = vitest.getGlobalTestNamePattern() !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const skipped = Map.groupBy(inState('skipped'), reasonOf);
    const passed = inState('passed').length;
    const silent = this.isFiltered ? [] : (skipped.get(SILENT) ?? []);
    const failures = [
      ...inState('failed').map((test) => failureOf(nameOf(test), test.result().errors)),
      // A file that does not load has no test to fail.
      ...modules
        .filter((module) => module.errors().length > 0)
        .map((module) => failureOf(module.relativeModuleId, module.errors())),
      ...errors.map((error) => failureOf('outside a test', [error])),
      ...silent.map((test) => `${nameOf(test)}: skipped without saying why`),
    ];
    const failed = failures.length;
    print('Slowest files', modules.toSorted(bySlowness).slice(0, SLOWEST).map(durationOf));
    print(
      'Skipped, and why',
      [...skipped].map(([reason, some]) => `${String(some.length).padStart(5)}  ${reason}`),
    );
    print('Failed', failures);
    const skips = tests.length - passed - inState('failed').length;
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skips} skipped\n`);
    if (silent.length > 0) process.exitCode = 1;
    const projects = [...new Set(modules.map((module) => module.project.name))].toSorted().join();
    if (projects === 'e2e,unit,workflow' && modules.length > 300 && failed === 0)
      noteFigures('npm test', [
        { what: 'tests', value: passed },
        { what: 'time', value: (performance.now() - this.startedAt) / 60_000, unit: 'min' },
      ]);
    const file = process.env['HIREBRIDGE_TEST_REPORT'];
    if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed, skipped: skips, failures }));
  }
}

const SILENT = '(no reason given)';

function reasonOf(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? SILENT;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}`;
}

/** A name, and the first lines of what went wrong. */
function failureOf(name: string, errors: readonly unknown[] | undefined): string {
  const [first] = errors ?? [];
  const message = first instanceof Object && 'message' in first ? String(first.message) : String(first);
  const lines = stripVTControlCharacters(message).split('\n').slice(0, 6);
  return [name, ...lines.map((line) => `    ${line.slice(0, 300)}`)].join('\n');
}

function bySlowness(one: TestModule, other: TestModule): number {
  return other.diagnostic().duration - one.diagnostic().duration;
}

function durationOf(module: TestModule): string {
  const seconds = module.diagnostic().duration / 1000;
  return `${seconds.toFixed(1).padStart(7)} s  ${module.project.name}  ${module.relativeModuleId}`;
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${title}:\n${lines.map((line) => `${line}\n`).join('')}`);
}
