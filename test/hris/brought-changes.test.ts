import { expect, test } from 'vitest';
import { bringChanges } from './changed-employees.ts';
import { bamboohrStaff, sqlStaff } from './staffs.ts';

/** A page of changes holds 50. All kinds with 500 people each: `npm run test:hris`. */
test('whoever changed reaches custom field and external status once, whatever dies between two pages', async () => {
  const { deaths, ...arrived } = await bringChanges(await bamboohrStaff(), 60);
  expect(arrived).toEqual({ lost: [], twice: [] });
  expect(deaths).toBeGreaterThan(5);
});

test('a field that the HR system requires reaches a custom field that is empty yet', async () => {
  const { lost, twice } = await bringChanges(await sqlStaff('familyName'), 4);
  expect({ lost, twice }).toEqual({ lost: [], twice: [] });
});
