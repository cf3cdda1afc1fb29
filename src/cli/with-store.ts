import { storeUrl } from '../config.ts';
import type { Store } from '../store/open-store.ts';
import type { Places } from './options.ts';

/** Opens the store for one command and closes it whatever happens. */
export async function withStore<T>(places: Places, use: (store: Store) => Promise<T>): Promise<T> {
  const { openStore } = await import('../store/open-store.ts');
  const store = await openStore(storeUrl(places.dataDir));
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
