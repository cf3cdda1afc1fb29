import { describe, expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';

const date = { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date' };

async function openWithFields() {
  const sandbox = await openSandbox({ jobs: 1, candidates: 2 });
  const [one, two] = (await sandbox.api('GET', '/candidates/list')).body.data.map(
    (person: { id: number }) => person.id,
  );
  const define = async (fieldType: string, options?: string[]): Promise<string> =>
    (await sandbox.api('POST', '/custom-fields', { ...date, fieldType, ...(options === undefined ? {} : { options }) }))
      .body.data.id;
  const set = (customFieldId: string, value: unknown, more: object = {}) =>
    sandbox.api('POST', '/custom-field-values', {
      customFieldId,
      entityType: 'candidate',
      entityId: one,
      value,
      ...more,
    });
  const values = async (id: number = one) =>
    (await sandbox.api('GET', `/custom-field-values?entityType=candidate&entityId=${id}`)).body.data;
  return { ...sandbox, one, two, define, set, values };
}

describe('definitions', () => {
  test('are created, listed by entity, changed in what may change, and deleted', async () => {
    await using sandbox = await openSandbox();
    const created = await sandbox.api('POST', '/custom-fields', date);
    expect(created.body.data).toMatchObject({
      ...date,
      options: null,
      description: null,
      parentSection: 'Personal Details',
    });
    const job = (
      await sandbox.api('POST', '/custom-fields', { ...date, entityType: 'job', fieldType: 'select', options: ['a'] })
    ).body.data;
    expect((await sandbox.api('GET', '/custom-fields?entityType=job')).body.data).toEqual([job]);
    expect((await sandbox.api('GET', '/custom-fields')).body.data).toHaveLength(2);
    const changed = await sandbox.api('PUT', `/custom-fields/${job.id}`, {
      fieldLabel: 'Shift',
      fieldType: 'text',
      options: ['a', 'b'],
    });
    expect(changed.body.data).toMatchObject({ fieldLabel: 'Shift', fieldType: 'select', options: ['a', 'b'] });
    expect((await sandbox.api('DELETE', `/custom-fields/${job.id}`)).status).toBe(200);
    expect((await sandbox.api('GET', `/custom-fields/${job.id}`)).body.error.code).toBe('CUSTOM_FIELD_NOT_FOUND');
  });

  test.each([
    ['entityType', { ...date, entityType: 'company' }],
    ['fieldLabel', { ...date, fieldLabel: ' ' }],
    ['fieldType', { ...date, fieldType: 'colour' }],
    ['options', { ...date, fieldType: 'select', options: [] }],
    ['options', { ...date, fieldType: 'multi-select' }],
    ['parentSection', { ...date, parentSection: 'Salary Details' }],
  ])('a bad %s is 400 and named in the details', async (field, body) => {
    await using sandbox = await openSandbox();
    const answered = await sandbox.api('POST', '/custom-fields', body);
    expect([answered.status, answered.body.error.code, Object.keys(answered.body.error.details)]).toEqual([
      400,
      'INVALID_REQUEST',
      [field],
    ]);
  });

  test('an update without anything that may change, or with empty options, is 400', async () => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('select', ['a']);
    for (const body of [{}, { fieldType: 'text' }, { options: [] }, { parentSection: 'Location' }]) {
      expect((await sandbox.api('PUT', `/custom-fields/${id}`, body)).status).toBe(400);
    }
  });
});

describe('values', () => {
  test.each([
    ['text', undefined, 'blue', 'blue'],
    ['textarea', undefined, '', ''],
    ['select', ['a', 'b'], 'b', 'b'],
    ['multi-select', ['a', 'b'], ['b', 'a'], '["b","a"]'],
    ['number', undefined, 12.5, 12.5],
    ['number', undefined, '7', 7],
    ['date', undefined, '2026-02-28', '2026-02-28'],
    ['checkbox', undefined, false, false],
    ['number', undefined, null, null],
  ])('a %s is stored in its form and read back', async (type, options, sent, stored) => {
    await using sandbox = await openWithFields();
    const answered = await sandbox.set(await sandbox.define(type, options), sent);
    expect([answered.status, answered.body.data.value]).toEqual([200, stored]);
    expect((await sandbox.values())[0]).toMatchObject({ value: stored, entityId: String(sandbox.one) });
  });

  test.each([
    ['text', undefined, 5],
    ['select', ['a'], 'z'],
    ['multi-select', ['a'], 'a'],
    ['multi-select', ['a'], ['a', 'z']],
    ['number', undefined, 'many'],
    ['date', undefined, '2026-02-30'],
    ['date', undefined, '2026-02-01T00:00:00Z'],
    ['date', undefined, ''],
    ['checkbox', undefined, 'true'],
  ])('a %s that does not fit is 400 and not stored', async (type, options, sent) => {
    await using sandbox = await openWithFields();
    const answered = await sandbox.set(await sandbox.define(type, options), sent);
    expect([answered.status, answered.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(await sandbox.values()).toEqual([]);
  });

  test('are upserted on their full key: another parent is another value', async () => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('text');
    const first = (await sandbox.set(id, 'a')).body.data;
    const again = (await sandbox.set(id, 'b')).body.data;
    expect([again.id, again.value]).toEqual([first.id, 'b']);
    const [job] = (await sandbox.api('GET', `/candidates/${sandbox.one}`)).body.data.workExperiences;
    const nested = { parentEntityType: 'work_experience', parentEntityId: job.id };
    const other = (await sandbox.set(id, 'c', nested)).body.data;
    expect(other.id).not.toBe(first.id);
    expect((await sandbox.values()).map((value: { value: string }) => value.value)).toEqual(['b', 'c']);
    const path = `/custom-field-values/entity/candidate/${sandbox.one}`;
    await sandbox.api('DELETE', `${path}?parentEntityType=work_experience&parentEntityId=${job.id}`);
    expect((await sandbox.values()).map((value: { value: string }) => value.value)).toEqual(['b']);
    await sandbox.api('DELETE', path);
    expect(await sandbox.values()).toEqual([]);
  });

  test.each<[string, object, number, string]>([
    ['a type that is none', { parentEntityType: 'hobby', parentEntityId: 1 }, 400, 'parentEntityType'],
    ['an id without a type', { parentEntityId: 900_002 }, 400, 'parentEntityType'],
    ['a type without an id', { parentEntityType: 'work_experience' }, 400, 'parentEntityId'],
    ["nobody's entry", { parentEntityType: 'work_experience', parentEntityId: 1 }, 404, 'parentEntityId'],
  ])('hang on no parent with %s, in bulk neither', async (_name, parent, status, field) => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('text');
    const refused = await sandbox.set(id, 'x', parent);
    expect([refused.status, Object.keys(refused.body.error.details)]).toEqual([status, [field]]);
    const entry = { customFieldId: id, entityType: 'candidate', entityId: sandbox.one, value: 'x' };
    const bulk = await sandbox.api('POST', '/custom-field-values/bulk', [entry, { ...entry, ...parent }]);
    expect([bulk.status, Object.keys(bulk.body.error.details)]).toEqual([status, [`[1].${field}`]]);
    expect(await sandbox.values()).toEqual([]);
  });

  test.each(['2e5', '0200001', '200001.0', ' 200001'])('hang on nobody when the id is written %j', async (entityId) => {
    await using sandbox = await openWithFields();
    const entry = { customFieldId: await sandbox.define('number'), entityType: 'candidate', entityId, value: 1 };
    const refused = await sandbox.api('POST', '/custom-field-values', entry);
    expect([refused.status, refused.body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  test('one bad entry of a bulk refuses all, and the ledger shows none', async () => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('number');
    const entry = { customFieldId: id, entityType: 'candidate', entityId: sandbox.one, value: 1 };
    const refused = await sandbox.api('POST', '/custom-field-values/bulk', [
      entry,
      { ...entry, entityId: sandbox.two, value: 'x' },
    ]);
    expect([refused.status, refused.body.error.details]).toEqual([400, { '[1].value': 'must be a number' }]);
    const person = { email: 'new@example.com', customFields: { [id]: 'x' } };
    const { details } = (await sandbox.api('POST', '/candidates', person)).body.error;
    expect(details).toEqual({ [`customFields.${id}`]: 'must be a number' });
    expect(await sandbox.values()).toEqual([]);
    expect((await sandbox.control.counts()).effect?.['custom-field-value']).toBeUndefined();
    const done = await sandbox.api('POST', '/custom-field-values/bulk', [
      entry,
      { ...entry, entityId: sandbox.two, value: 2 },
    ]);
    expect(done.body.data.map((value: { value: number }) => value.value)).toEqual([1, 2]);
    expect((await sandbox.control.counts()).effect?.['custom-field-value']).toBe(2);
    expect((await sandbox.api('POST', '/custom-field-values/bulk', [])).status).toBe(400);
  });

  test('outlive their definition, and a new one for it is 404', async () => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('text');
    const value = (await sandbox.set(id, 'kept')).body.data;
    await sandbox.api('DELETE', `/custom-fields/${id}`);
    expect((await sandbox.api('GET', `/custom-field-values/${value.id}`)).body.data.value).toBe('kept');
    expect((await sandbox.set(id, 'new')).body.error.code).toBe('CUSTOM_FIELD_NOT_FOUND');
    await sandbox.api('DELETE', `/custom-field-values/${value.id}`);
    expect((await sandbox.api('GET', `/custom-field-values/${value.id}`)).status).toBe(404);
  });

  test('of an unknown entity are 404, of the wrong entity type 400, without a filter 400', async () => {
    await using sandbox = await openWithFields();
    const id = await sandbox.define('text');
    expect((await sandbox.set(id, 'x', { entityId: 999 })).status).toBe(404);
    expect((await sandbox.set(id, 'x', { entityType: 'job' })).status).toBe(400);
    expect((await sandbox.api('GET', '/custom-field-values')).status).toBe(400);
  });
});
