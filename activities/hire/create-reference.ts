import { readKept } from '../../src/store/purged.ts';
import { employeeReference } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

/**
 * Under which reference an employee of this hire is made. A create that may have left keeps its own, so that it can be
 * recognised. A person's further employment carries its hire, and so does one beside a former employee who has the
 * plain reference: that was refused as taken, and a person said that the employee there is none of this hire.
 */
export function createReference(hire: HireContext, candidateId: string, isFurther: boolean): string {
  const { creation, connection, decisions, ref } = hire;
  const pinned = creation === undefined ? 'purged' : readKept<{ reference: string }>(creation.pinned);
  if (pinned !== 'purged' && creation?.outcome !== 'refused') return pinned.reference;
  const { code } = (JSON.parse(creation?.result ?? 'null') ?? {}) as { code?: string };
  const isTaken = code === 'ALREADY_EXISTS' && decisions.notThese.size > 0;
  return employeeReference(connection.tenant, candidateId, isFurther || isTaken ? ref : undefined);
}
