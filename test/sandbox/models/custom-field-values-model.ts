/** Sections 2.5 and 4.5: definitions, and values found again by all of their keys. */
import assert from 'node:assert/strict';
import type { Answer, Company } from './in-memory-sandbox.ts';
import { accepted, chosen, type Pick } from './model-run.ts';

interface Definition {
  id: string;
  entityType: string;
  fieldLabel: string;
  fieldType: string;
  options: string[] | null;
}

export interface Entity {
  entityType: string;
  id: number;
  /** A work experience of the candidate: values may hang on it. */
  experienceId?: number;
}

export interface Value {
  id: number;
  customFieldId: string;
  entityType: string;
  entityId: string;
  parentEntityType: string | null;
  parentEntityId: string | null;
  value: unknown;
}

export interface Fields {
  definitions: Definition[];
  deleted: Definition[];
  values: Value[];
  gone: number[];
  entities: Entity[];
  foreign: { customFieldId: string };
}

export const UNKNOWN = 987_654;

export function isOption({ options: allowed }: Definition, sent: unknown): boolean {
  if (allowed === null || sent === null) return true;
  return (Array.isArray(sent) ? sent : [sent]).every((one) => allowed.includes(one as string));
}

export function drop(model: Fields, isGone: (one: Value) => boolean): void {
  model.gone.push(...model.values.filter(isGone).map(({ id }) => id));
  model.values = model.values.filter((one) => !isGone(one));
}

export function isOf(value: Value, entity: Entity): boolean {
  return value.entityType === entity.entityType && value.entityId === String(entity.id);
}

export function plain({
  id,
  customFieldId,
  entityType: of,
  entityId,
  parentEntityType,
  parentEntityId,
  value,
}: Value): Value {
  return { id, customFieldId, entityType: of, entityId, parentEntityType, parentEntityId, value };
}

export function idOf(model: Fields, which: Pick): string {
  return chosen(model.definitions, which)?.id ?? (which.kind === 'foreign' ? model.foreign.customFieldId : 'nobody');
}

export function definitionRefusal(field: Definition | undefined, { kind }: Pick): string[] {
  if (field !== undefined) return [];
  return [kind === 'foreign' ? 'PERMISSION_DENIED' : 'CUSTOM_FIELD_NOT_FOUND'];
}

/** Section 2.2: every job field stands on every job of the list, an unset one as an empty string. */
function compareShown(model: Fields, company: Company): void {
  const { jobs } = company.api('GET', '/jobs').body as {
    jobs: Array<{ id: number; customFields: Record<string, { value: unknown }> }>;
  };
  for (const { id, customFields } of jobs)
    for (const field of model.definitions.filter((one) => one.entityType === 'job')) {
      const set = model.values.find(
        (one) => one.customFieldId === field.id && one.entityId === String(id) && one.entityType === 'job',
      );
      assert.deepEqual(customFields[field.id]?.value, set?.value ?? '');
    }
}

function byId(a: Value, b: Value): number {
  return a.id - b.id;
}

export function begin(company: Company, foreign: Company): Fields {
  const theirs = foreign.api('POST', '/custom-fields', {
    entityType: 'job',
    fieldLabel: 'Theirs',
    fieldType: 'text',
  });
  const place = { city: 'Oslo', state: '', country: 'Norway' };
  const job = company.api('POST', '/jobs', { title: 'Porter', ...place }).body;
  const people = ['ada@example.org', 'bo@example.org'].map((email) => {
    const added: Answer = company.api('POST', '/candidates', {
      email,
      workExperiences: [{ title: 'Cook', company: 'Inn' }],
    });
    return { entityType: 'candidate', id: added.body.data.id, experienceId: added.body.data.workExperiences[0].id };
  });
  return {
    definitions: [],
    deleted: [],
    values: [],
    gone: [],
    entities: [...people, { entityType: 'job', id: job.id }],
    foreign: { customFieldId: theirs.body.data.id },
  };
}

export function compare(model: Fields, company: Company): void {
  for (const entity of model.entities) {
    const path = `/custom-field-values?entityType=${entity.entityType}&entityId=${entity.id}`;
    const listed = (accepted(company.api('GET', path), 200, 'the values of an entity') as Value[]).map(plain);
    const right = model.values.filter((one) => isOf(one, entity));
    assert.deepEqual(listed.toSorted(byId), right.toSorted(byId));
  }
  const defined = (company.api('GET', '/custom-fields').body.data as Definition[]).map(({ id }) => id);
  assert.deepEqual(defined.toSorted(), model.definitions.map(({ id }) => id).toSorted());
  compareShown(model, company);
}
