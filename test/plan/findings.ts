import { type Employee, employeeIn } from '../../src/hire/hire.ts';
import type { Finding, Rung } from '../../src/plan/identity-ladder.ts';

/** An employee of the HR system that is asked. */
export function inHr(id: string): Employee {
  return employeeIn('hr', id);
}

/** What the HR system answers for one key, in a word. */
export function none(by: Rung): Finding {
  return { by, found: { kind: 'none', trusted: true } };
}

export function unproven(by: Rung): Finding {
  return { by, found: { kind: 'none', trusted: false } };
}

export function one(by: Rung, id: string): Finding {
  return { by, found: { kind: 'one', ref: inHr(id), by } };
}

export function many(by: Rung, ...ids: string[]): Finding {
  return { by, found: { kind: 'many', refs: ids.map(inHr), by } };
}

/** The key is not asked, or answers nothing, nothing it can prove, one of two records, or both. */
export function everyAnswerOf(by: Rung): Finding[][] {
  return [[], [none(by)], [unproven(by)], [one(by, 'A')], [one(by, 'B')], [many(by, 'A', 'B')]];
}

export function everyCombination(): Finding[][] {
  const rungs: Rung[] = ['reference', 'number', 'email', 'person'];
  return rungs.reduce<Finding[][]>(
    (so, by) => so.flatMap((head) => everyAnswerOf(by).map((tail) => [...head, ...tail])),
    [[]],
  );
}

/** The employees that any of the keys found. */
export function idsIn(findings: readonly Finding[]): string[] {
  const refs = findings.flatMap(({ found }) => {
    if (found.kind === 'none') return [];
    return found.kind === 'one' ? [found.ref] : found.refs;
  });
  return [...new Set(refs.map(({ id }) => id))];
}
