import { type CompiledField, pathsRead } from '../../mapping/compile-rule.ts';
import { evaluateField, type Step } from '../../mapping/evaluate.ts';
import type { MappingSources } from '../../mapping/read-source.ts';
import { writeRule } from '../../mapping/write-rule.ts';
import { MASK, maskChanges } from '../plans/plan-view.ts';
import type { WriteView } from './read-audit.ts';

/** The last write of one field. `value` is absent once it was purged. */
export interface WrittenField extends Pick<WriteView, 'at' | 'by' | 'run' | 'mapping' | 'outcome' | 'purgedAt'> {
  value?: unknown;
  /** What it replaced; absent where that was not known. */
  old?: unknown;
}

/** One field of the HR system: where its value comes from, what it is now, and what was planned, written, read back. */
export interface ExplainedField {
  field: string;
  rule: string;
  file: string;
  line: number;
  sensitive: boolean;
  /** When what the rule reads was read, the oldest of it; absent for a constant. */
  readAt?: string;
  /** What each step gave; personal data. */
  steps: { step: string; value: unknown }[];
  /** What the field would get now; absent where it is left out. */
  value?: unknown;
  /** Why it would get nothing. */
  problem?: string;
  /** What the last plan has for it. */
  planned?: unknown;
  written?: WrittenField;
  /** What the HR system holds now; absent where nothing was written yet. */
  held?: unknown;
}

export interface Explained {
  mapping: string;
  /** The last plan of a hire, where there is one; its decision is absent once it was purged. */
  plan?: {
    id: string;
    mapping: string;
    decision?: string;
    plannedAt: string;
    appliedAt: string | null;
    purged: boolean;
  };
  /** Of a hire. */
  employee: { id: string; number: string | null } | null;
  fields: ExplainedField[];
  /** Every write of this record, latest first. */
  writes: WriteView[];
}

/** When each record was read; tables under their names. A record that is not named was read just now. */
export interface ReadTimes {
  now: number;
  earlier: Readonly<Record<string, number | null | undefined>>;
}

/** Evaluates one rule and takes down its steps. */
export function explainField(field: CompiledField, sources: MappingSources, times: ReadTimes): ExplainedField {
  const steps: Step[] = [];
  const result = evaluateField(field, sources, steps);
  const { file, line } = field.at;
  const readAt = readTimeOf(field, times);
  const explained = {
    field: field.target,
    rule: writeRule(field.rule),
    file,
    line,
    sensitive: field.sensitive,
    ...(readAt === undefined ? {} : { readAt }),
    steps,
  };
  if ('code' in result) return { ...explained, problem: `${result.text} [${result.code}]` };
  return result.value === undefined ? explained : { ...explained, value: result.value };
}

function readTimeOf(field: CompiledField, { now, earlier }: ReadTimes): string | undefined {
  const records = pathsRead(field).map(({ source }) => source);
  if (records.length === 0) return undefined;
  const times = [...records, ...(field.table === undefined ? [] : [field.table.name])].map(
    (name) => earlier[name] ?? now,
  );
  return new Date(Math.min(...times)).toISOString();
}

/** The last write to a field of this target; writes are listed latest first. */
export function lastWritten(writes: readonly WriteView[], target: string, field: string): WrittenField | undefined {
  const write = writes.find((one) => one.target === target && one.fields.includes(field));
  if (write === undefined) return undefined;
  const { at, by, run, mapping, outcome, purgedAt } = write;
  const change = write.changes[field];
  const values = change === undefined ? {} : { value: change.new, ...('old' in change ? { old: change.old } : {}) };
  return { at, by, run, mapping, outcome, purgedAt, ...values };
}

/** The same without the values of sensitive fields; which steps were taken stays. */
export function maskSensitive({ fields, writes, ...rest }: Explained): Explained {
  const sensitive = fields.filter((field) => field.sensitive).map(({ field }) => field);
  return {
    ...rest,
    fields: fields.map((field) => (field.sensitive ? maskField(field) : field)),
    writes: writes.map((write) => ({ ...write, changes: maskChanges(write.changes, sensitive) })),
  };
}

function maskField(field: ExplainedField): ExplainedField {
  const { written } = field;
  return {
    ...field,
    steps: field.steps.map(({ step, value }) => ({ step, value: value === undefined ? undefined : MASK })),
    ...('value' in field ? { value: MASK } : {}),
    ...('planned' in field ? { planned: MASK } : {}),
    ...('held' in field ? { held: MASK } : {}),
    ...(written === undefined ? {} : { written: maskWritten(written) }),
  };
}

function maskWritten(written: WrittenField): WrittenField {
  return {
    ...written,
    ...('value' in written ? { value: MASK } : {}),
    ...('old' in written ? { old: MASK } : {}),
  };
}
