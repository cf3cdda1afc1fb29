import { expect, test } from 'vitest';
import { acknowledgeFields, listFieldChanges } from '../../../src/store/fields.ts';
import { openFields } from './open-fields.ts';

const WAITS = (code: string) => ({ code, action: 'throttle' });

test('a renamed field is an alarm, keeps hires and syncs waiting, and heals when it is renamed back', async () => {
  const tenant = await openFields();
  const { sandbox, ids } = tenant;
  await tenant.set(ids.level, 'Senior');
  await tenant.setJob(ids.job, 'Junior');
  expect(await tenant.hire()).toEqual({ level: 'Senior' });
  await tenant.sync('r1');
  expect([...tenant.landed.values()]).toEqual(['Junior', 'Junior', 'Junior']);
  for (const customFieldId of [ids.level, ids.job])
    await sandbox.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Grade' } });
  tenant.landed.clear();
  await expect(tenant.hire()).rejects.toMatchObject({
    ...WAITS('FIELD_RENAMED'),
    message: expect.stringMatching(/candidate\.customFields\[Level\].*calls it "Grade" now.*Rename it back/),
  });
  await expect(tenant.sync('r2')).rejects.toMatchObject(WAITS('FIELD_RENAMED'));
  expect(tenant.landed.size).toBe(0);
  expect(await tenant.alarms()).toEqual(['FIELD_RENAMED', 'FIELD_RENAMED']);
  for (const customFieldId of [ids.level, ids.job])
    await sandbox.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Level' } });
  expect(await tenant.hire()).toEqual({ level: 'Senior' });
  await tenant.sync('r2');
  expect([...tenant.landed.values()]).toEqual(['Junior', 'Junior', 'Junior']);
  expect(await tenant.alarms()).toEqual([]);
  const changes = await listFieldChanges(tenant.store, 'acme', 10);
  expect(changes.map(({ before, after }) => `${before?.label} > ${after?.label}`)).toContain('Level > Grade');
});

test('a removed option is an alarm until it is put back or acknowledged; values that people have stay', async () => {
  const tenant = await openFields();
  const { sandbox, ids, store } = tenant;
  const params = { customFieldId: ids.level };
  await tenant.set(ids.level, 'Senior');
  await tenant.watch();
  await sandbox.partner.customFields.update({ params, body: { options: ['Junior'] } });
  await tenant.watch();
  expect(await tenant.alarms()).toEqual(['FIELD_OPTION_REMOVED']);
  expect(await tenant.hire()).toEqual({ level: 'Senior' });
  await sandbox.partner.customFields.update({ params, body: { options: ['Junior', 'Senior', 'Lead'] } });
  await tenant.watch();
  expect(await tenant.alarms()).toEqual([]);
  await sandbox.partner.customFields.update({ params, body: { options: ['Junior', 'Senior'] } });
  await tenant.watch();
  expect(await tenant.alarms()).toEqual(['FIELD_OPTION_REMOVED']);
  await acknowledgeFields(store, { tenantId: 'acme', by: 'ana' });
  await tenant.watch();
  expect(await tenant.alarms()).toEqual([]);
});

/** Both fields are created again as they were: other ids, and everything goes on with the values they have now. */
async function goesOnWithEqualFields(tenant: Awaited<ReturnType<typeof openFields>>): Promise<void> {
  const level = { fieldLabel: 'Level', fieldType: 'select' as const, options: ['Junior', 'Senior'] };
  const candidate = await tenant.define({ entityType: 'candidate', ...level });
  const job = await tenant.define({ entityType: 'job', ...level });
  await tenant.set(candidate.data.id, 'Junior');
  await tenant.setJob(job.data.id, 'Senior');
  expect(await tenant.hire()).toEqual({ level: 'Junior' });
  await tenant.sync('r2');
  expect([...tenant.landed.values()]).toEqual(['Senior', 'Senior', 'Senior']);
  expect(await tenant.alarms()).toEqual([]);
}

test('a deleted field is an alarm and nothing is written without it; created again alike, all goes on', async () => {
  const tenant = await openFields();
  const { sandbox, ids } = tenant;
  await tenant.set(ids.level, 'Senior');
  await tenant.setJob(ids.job, 'Junior');
  await tenant.sync('r1');
  await sandbox.control.act('deleteCustomField', { customFieldId: ids.level });
  await sandbox.control.act('deleteCustomField', { customFieldId: ids.job });
  tenant.landed.clear();
  await expect(tenant.hire()).rejects.toMatchObject(WAITS('FIELD_DELETED'));
  await expect(tenant.sync('r2')).rejects.toMatchObject(WAITS('FIELD_DELETED'));
  expect(tenant.landed.size).toBe(0);
  expect(await tenant.alarms()).toEqual(['FIELD_DELETED', 'FIELD_DELETED']);
  await goesOnWithEqualFields(tenant);
});

test('a field created again with another type is an alarm before it is a wrong value, and heals', async () => {
  const tenant = await openFields();
  const { sandbox, ids } = tenant;
  await tenant.set(ids.level, 'Senior');
  await tenant.setJob(ids.job, 'Junior');
  await tenant.sync('r1');
  await tenant.hire();
  tenant.landed.clear();
  for (const [entityType, customFieldId] of [
    ['candidate', ids.level],
    ['job', ids.job],
  ] as const) {
    await sandbox.control.act('deleteCustomField', { customFieldId });
    const other = await tenant.define({ entityType, fieldLabel: 'Level', fieldType: 'number' });
    await (entityType === 'job' ? tenant.setJob : tenant.set)(other.data.id, 7);
  }
  await expect(tenant.hire()).rejects.toMatchObject({
    ...WAITS('FIELD_REPLACED'),
    message: expect.stringMatching(/another type: select before, number now/),
  });
  await expect(tenant.sync('r2')).rejects.toMatchObject(WAITS('FIELD_REPLACED'));
  expect(tenant.landed.size).toBe(0);
  expect(await tenant.alarms()).toEqual(['FIELD_REPLACED', 'FIELD_REPLACED']);
  const changes = await listFieldChanges(tenant.store, 'acme', 10);
  const replaced = changes.flatMap(({ fieldId, before, after }) => (before === undefined && after ? [fieldId] : []));
  for (const customFieldId of replaced) await sandbox.control.act('deleteCustomField', { customFieldId });
  await goesOnWithEqualFields(tenant);
});

test('records that show their fields cost a sync no call, and those that no longer do are not written', async () => {
  const tenant = await openFields();
  const { sandbox, ids } = tenant;
  await tenant.setJob(ids.job, 'Junior');
  await tenant.sync('r1');
  const before = await tenant.lists();
  await tenant.sync('r2');
  expect(await tenant.lists()).toBe(before);
  await sandbox.partner.customFields.update({ params: { customFieldId: ids.job }, body: { fieldLabel: 'Grade' } });
  tenant.landed.clear();
  await expect(tenant.sync('r3')).rejects.toMatchObject(WAITS('FIELD_RENAMED'));
  expect(tenant.landed.size).toBe(0);
});

test('a person without a value costs one look at the definitions; a multi-select is read as a list', async () => {
  const tenant = await openFields();
  await tenant.set(tenant.ids.shifts, ['Late', 'Early']);
  expect(await tenant.hire()).toEqual({ shifts: ['Late', 'Early'] });
  const before = await tenant.lists();
  await tenant.hire();
  expect(await tenant.lists()).toBe(before + 1);
  await tenant.set(tenant.ids.level, 'Junior');
  await tenant.hire();
  expect(await tenant.lists()).toBe(before + 1);
});
