/** What is done to custom fields and their values, in the sandbox and in the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  begin,
  compare,
  definitionRefusal,
  drop,
  type Entity,
  type Fields,
  idOf,
  isOf,
  isOption,
  plain,
  UNKNOWN,
  type Value,
} from './custom-field-values-model.ts';
import { accepted, chosen, type Family, pick, refusedAs, type Step, step } from './model-run.ts';

const OPTIONS = ['red', 'green'];

const fieldType = fc.constantFrom('text', 'number', 'date', 'select', 'multi-select', 'checkbox', 'textarea');

const entityType = fc.constantFrom('candidate', 'job');

const options = fc.constantFrom<Array<string[] | undefined>>(OPTIONS, ['red'], [], undefined);

/** Sent, and as it is stored (section 2.5); whether it fits decides the type. */
const SAMPLES: Array<{ sent: unknown; stored?: unknown; fits: string[] }> = [
  { sent: 'red', fits: ['text', 'textarea', 'select'] },
  { sent: 'blue', fits: ['text', 'textarea'] },
  { sent: '', fits: ['text', 'textarea'] },
  { sent: 12.5, fits: ['number'] },
  { sent: 0, fits: ['number'] },
  { sent: '2026-02-28', fits: ['text', 'textarea', 'date'] },
  { sent: '2026-02-30', fits: ['text', 'textarea'] },
  { sent: true, fits: ['checkbox'] },
  { sent: false, fits: ['checkbox'] },
  { sent: 'true', fits: ['text', 'textarea'] },
  { sent: ['red'], stored: '["red"]', fits: ['multi-select'] },
  { sent: ['green', 'red'], stored: '["green","red"]', fits: ['multi-select'] },
  { sent: ['blue'], fits: [] },
  // Clears (F11).
  { sent: null, fits: ['text', 'textarea', 'select', 'number', 'date', 'checkbox', 'multi-select'] },
];

const sample = fc.constantFrom(...SAMPLES);

const entry = fc.record({
  field: fc.oneof({ weight: 5, arbitrary: pick }, fc.constant('deleted' as const)),
  entity: pick,
  nested: fc.boolean(),
  misTyped: fc.nat(9),
  sample,
});

type Entry = typeof entry extends fc.Arbitrary<infer One> ? One : never;

const define = step(
  'define',
  fc.record({ entityType, fieldType, fieldLabel: fc.constantFrom('Size', 'Colour', ' '), options }),
  (model: Fields, company, drawn) => {
    const answer = company.api('POST', '/custom-fields', drawn);
    const select = drawn.fieldType.endsWith('select');
    const wrong = drawn.fieldLabel.trim() === '' || (select && (drawn.options ?? []).length === 0);
    if (wrong) return refusedAs(answer, ['INVALID_REQUEST'], 'the definition');
    const made = accepted(answer, 200, 'a definition');
    const { entityType: of, fieldLabel, fieldType: type } = drawn;
    model.definitions.push({
      id: made.id,
      entityType: of,
      fieldLabel,
      fieldType: type,
      options: select ? (drawn.options ?? null) : null,
    });
  },
);

const redefine = step(
  'redefine',
  fc.record({
    field: pick,
    fieldLabel: fc.constantFrom('Weight', undefined),
    options,
    fieldType: fc.constantFrom('text', undefined),
  }),
  (model: Fields, company, { field: which, ...change }) => {
    const field = chosen(model.definitions, which);
    // What becomes of options of a type that has none is told of the definition only (F8).
    if (field !== undefined && field.options === null && change.options !== undefined) return;
    const answer = company.api('PUT', `/custom-fields/${idOf(model, which)}`, change);
    const broken = definitionRefusal(field, which);
    if (change.fieldLabel === undefined && change.options === undefined) broken.push('INVALID_REQUEST');
    if (change.options?.length === 0) broken.push('INVALID_REQUEST');
    if (field === undefined || broken.length > 0) return refusedAs(answer, broken, 'the change of a definition');
    accepted(answer, 200, 'a change of a definition');
    field.fieldLabel = change.fieldLabel ?? field.fieldLabel;
    field.options = change.options ?? field.options;
  },
);

const deleteDefinition = step('delete definition', fc.record({ field: pick }), (model: Fields, company, drawn) => {
  const field = chosen(model.definitions, drawn.field);
  const answer = company.api('DELETE', `/custom-fields/${idOf(model, drawn.field)}`);
  if (field === undefined)
    return refusedAs(answer, definitionRefusal(field, drawn.field), 'the deletion of a definition');
  accepted(answer, 200, 'a deletion of a definition');
  model.definitions = model.definitions.filter((one) => one !== field);
  model.deleted.push(field);
});

const upsert = step('set value', entry, (model: Fields, company, drawn) => {
  const judged = judge(model, drawn);
  const answer = company.api('POST', '/custom-field-values', judged.body);
  if (judged.broken.length > 0) return refusedAs(answer, judged.broken, 'the value');
  keep(model, judged, accepted(answer, 200, 'a value'));
});

const upsertBulk = step('set values', fc.array(entry, { maxLength: 4 }), (model: Fields, company, drawn) => {
  const judged = drawn.map((one) => judge(model, one));
  const answer = company.api(
    'POST',
    '/custom-field-values/bulk',
    judged.map((one) => one.body),
  );
  const broken = judged.length === 0 ? ['INVALID_REQUEST'] : judged.flatMap((one) => one.broken);
  // One bad entry refuses all (F3); `compare` sees that none was kept.
  if (broken.length > 0) return refusedAs(answer, broken, 'the values');
  const data = accepted(answer, 200, 'values') as unknown[];
  assert.equal(data.length, judged.length);
  for (const [at, one] of judged.entries()) keep(model, one, data[at] as Value, judged.slice(at + 1));
});

const deleteValue = step(
  'delete value',
  fc.record({ value: pick, gone: fc.boolean() }),
  (model: Fields, company, drawn) => {
    const value = drawn.gone ? undefined : chosen(model.values, drawn.value);
    const id = value?.id ?? model.gone.at(-1) ?? UNKNOWN;
    const answer = company.api('DELETE', `/custom-field-values/${id}`);
    if (value === undefined) return refusedAs(answer, ['NOT_FOUND'], 'the deletion of a value');
    accepted(answer, 200, 'a deletion of a value');
    drop(model, (one) => one === value);
  },
);

const deleteOfEntity = step(
  'delete values of',
  fc.record({ entity: fc.nat(9), nested: fc.boolean() }),
  (model: Fields, company, drawn) => {
    const entity = model.entities[drawn.entity % model.entities.length] as Entity;
    const parent = drawn.nested ? entity.experienceId : undefined;
    const query = parent === undefined ? '' : `?parentEntityType=work_experience&parentEntityId=${parent}`;
    accepted(
      company.api('DELETE', `/custom-field-values/entity/${entity.entityType}/${entity.id}${query}`),
      200,
      'a deletion',
    );
    // Without a parent the nested ones go too (F6).
    drop(model, (one) => isOf(one, entity) && (parent === undefined || one.parentEntityId === String(parent)));
  },
);

interface Judged {
  body: Record<string, unknown>;
  broken: string[];
  right: Omit<Value, 'id'>;
}

/** What the rules say of one entry. */
function judge(
  model: Fields,
  { field: which, entity: where, nested, misTyped, sample: { sent, stored, fits } }: Entry,
): Judged {
  const field = which === 'deleted' ? undefined : chosen(model.definitions, which);
  const entity = chosen(model.entities, where);
  const broken: string[] = [];
  if (field === undefined)
    broken.push(which !== 'deleted' && which.kind === 'foreign' ? 'PERMISSION_DENIED' : 'CUSTOM_FIELD_NOT_FOUND');
  if (entity === undefined) broken.push('NOT_FOUND');
  // Mostly the type of the field; another is refused (F9), and its entity is not there.
  const meant = misTyped === 0 || field === undefined ? (entity?.entityType ?? 'candidate') : field.entityType;
  const there = entity?.entityType === meant ? entity : model.entities.find((one) => one.entityType === meant);
  if (field !== undefined && field.entityType !== meant) broken.push('INVALID_REQUEST');
  if (field !== undefined && !(fits.includes(field.fieldType) && isOption(field, sent))) broken.push('INVALID_REQUEST');
  const entityId = entity === undefined ? UNKNOWN : (there?.id ?? UNKNOWN);
  const parentId = nested ? there?.experienceId : undefined;
  const parent = parentId === undefined ? {} : { parentEntityType: 'work_experience', parentEntityId: parentId };
  const customFieldId = which === 'deleted' ? (model.deleted.at(-1)?.id ?? 'nobody') : idOf(model, which);
  return {
    body: { customFieldId, entityType: meant, entityId, ...parent, value: sent },
    broken,
    right: {
      customFieldId,
      entityType: meant,
      entityId: String(entityId),
      parentEntityType: parentId === undefined ? null : 'work_experience',
      parentEntityId: parentId === undefined ? null : String(parentId),
      value: stored ?? sent,
    },
  };
}

/** The value with these keys, new or again; a later entry of the same request may have set it once more. */
function keep(model: Fields, { right }: Judged, shown: Value, later: readonly Judged[] = []): void {
  const keys = (one: Omit<Value, 'id'>): string =>
    JSON.stringify([one.customFieldId, one.entityType, one.entityId, one.parentEntityType, one.parentEntityId]);
  const before = model.values.find((one) => keys(one) === keys(right));
  if (before === undefined)
    assert.ok(![...model.values.map(({ id }) => id), ...model.gone].includes(shown.id), 'a new id');
  else assert.equal(shown.id, before.id, 'upsert matches on the keys');
  if (!later.some((one) => keys(one.right) === keys(right))) assert.deepEqual(plain(shown), { ...right, id: shown.id });
  if (before === undefined) model.values.push({ ...right, id: shown.id });
  else before.value = right.value;
}

export const customFieldValues: Family<Fields> = {
  name: 'custom field values',
  begin,
  steps: [
    define,
    define,
    redefine,
    deleteDefinition,
    upsert,
    upsert,
    upsert,
    upsertBulk,
    deleteValue,
    deleteOfEntity,
  ] as Array<fc.Arbitrary<Step<Fields>>>,
  compare,
};
