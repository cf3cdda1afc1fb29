import { expect, test } from 'vitest';
import { findHiresByName } from '../../src/operator/hires-by-name.ts';
import type { OpenTenant } from '../../src/operator/open-tenant.ts';
import { sqliteStore } from '../store/stores.ts';

test('a platform that ignores the search is not listed to its end, and that is told', async () => {
  const store = await sqliteStore();
  let pages = 0;
  const partner = {
    async *pages() {
      for (;;) {
        pages += 1;
        yield { items: Array.from({ length: 100 }, (_, at) => ({ id: pages * 100 + at, firstName: 'Ada' })) };
      }
    },
  };
  const open = { store, tenant: { tenant: 'acme' }, connection: { partner } } as unknown as OpenTenant;
  expect(await findHiresByName(open, 'Ada')).toEqual({ hires: [], people: 500, isCut: true });
  expect(pages).toBe(5);
});
