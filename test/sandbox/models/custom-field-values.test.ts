import { test } from 'vitest';
import { customFieldValues } from './custom-field-values.ts';
import { expectAgreement, expectCounterexample } from './expect-family.ts';

test('custom field values do what the model says, whatever the order of steps', () =>
  expectAgreement(customFieldValues));

test('the model notices a deleted definition that takes its values along', () =>
  expectCounterexample(customFieldValues, (company) => ({
    ...company,
    api(method, path, body) {
      const [, id] = /^\/custom-fields\/(.+)$/.exec(method === 'DELETE' ? path : '') ?? [];
      const { data: people } = company.api('GET', '/candidates/list').body;
      for (const { id: entityId } of id === undefined ? [] : people)
        for (const value of company.api('GET', `/custom-field-values?entityType=candidate&entityId=${entityId}`).body
          .data)
          if (value.customFieldId === id) company.api('DELETE', `/custom-field-values/${value.id}`);
      return company.api(method, path, body);
    },
  })));
