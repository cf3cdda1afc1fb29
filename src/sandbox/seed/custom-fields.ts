import { candidateSections, fieldTypes, jobSections } from '../../partner/contract/custom-fields.ts';
import type { Context } from '../context.ts';
import { pick, type Random } from '../random.ts';
import { findCandidate } from '../records/candidates/candidates.ts';
import { upsertValue } from '../records/custom-fields/custom-field-values.ts';
import { type CustomField, createCustomField } from '../records/custom-fields/custom-fields.ts';

type FieldType = (typeof fieldTypes)[number];

const SOURCES = ['Agency', 'Referral', 'Website', 'Job fair'];
const SHIFTS = ['Early', 'Late', 'Night', 'Weekend'];

interface Invented {
  candidate: string;
  job: string;
  options?: readonly string[];
  value: (random: Random) => unknown;
}

/** One field of each type for candidates and for jobs. */
const FIELDS: Record<FieldType, Invented> = {
  text: { candidate: 'Locker', job: 'Cost centre', value: (random) => `L-${String(100 + Math.floor(random() * 900))}` },
  textarea: {
    candidate: 'Note of the recruiter',
    job: 'Note for the agency',
    value: (random) => pick(random, ['Very friendly on the phone.', 'Asks for a part-time contract.', 'Call back.']),
  },
  number: { candidate: 'Years abroad', job: 'Head count', value: (random) => Math.floor(random() * 12) },
  date: {
    candidate: 'Available from',
    job: 'Start of work',
    value: (random) => `2026-${String(1 + Math.floor(random() * 12)).padStart(2, '0')}-01`,
  },
  select: {
    candidate: 'Source',
    job: 'Budget',
    options: SOURCES,
    value: (random) => pick(random, SOURCES),
  },
  'multi-select': {
    candidate: 'Shifts',
    job: 'Shifts to fill',
    options: SHIFTS,
    value: (random) => SHIFTS.filter(() => random() < 0.5),
  },
  checkbox: { candidate: 'Has a car', job: 'Urgent', value: (random) => random() < 0.5 },
};

/** A field of every type, filled for most of these people and jobs; one of them hangs on a work experience. */
export function seedCustomFields(
  ctx: Context,
  random: Random,
  of: { candidateIds: readonly number[]; jobIds: readonly number[] },
): void {
  const candidateFields = definitions(ctx, 'candidate');
  const jobFields = definitions(ctx, 'job');
  for (const id of of.candidateIds) fill(ctx, random, candidateFields, id);
  for (const id of of.jobIds) fill(ctx, random, jobFields, id);
  seedNested(ctx, of.candidateIds.slice(0, 20));
}

function definitions(ctx: Context, entityType: 'candidate' | 'job'): CustomField[] {
  const sections = entityType === 'job' ? jobSections : candidateSections;
  return fieldTypes.map((fieldType, index) => {
    const { [entityType]: fieldLabel, options } = FIELDS[fieldType];
    const parentSection = sections[index % sections.length];
    return createCustomField(ctx, { entityType, fieldLabel, fieldType, options, parentSection });
  });
}

function fill(ctx: Context, random: Random, fields: readonly CustomField[], entityId: number): void {
  for (const { id: customFieldId, entityType, fieldType } of fields) {
    const value = FIELDS[fieldType as FieldType].value(random);
    if (random() < 0.8) upsertValue(ctx, { customFieldId, entityType, entityId, value });
  }
}

/** What was done in a job: a value of section 2.5 that hangs on the work experience. */
function seedNested(ctx: Context, candidateIds: readonly number[]): void {
  const field = createCustomField(ctx, {
    entityType: 'candidate',
    fieldLabel: 'Reason for leaving',
    fieldType: 'text',
    parentSection: 'Experience',
  });
  for (const entityId of candidateIds) {
    const [first] = findCandidate(ctx, entityId)['workExperiences'] as { id: number }[];
    if (first === undefined) continue;
    const nested = { parentEntityType: 'work_experience', parentEntityId: first.id };
    upsertValue(ctx, { customFieldId: field.id, entityType: 'candidate', entityId, ...nested, value: 'Moved house' });
  }
}
