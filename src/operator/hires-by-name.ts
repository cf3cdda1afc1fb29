import { contract } from '../partner/contract/index.ts';
import { findHires } from '../store/listings.ts';
import type { HireRow } from '../store/schema.ts';
import type { OpenTenant } from './open-tenant.ts';

/** A shorter word is part of too many names. */
const LEAST = 2;
/** So many people at most are looked through: a platform that ignores the search would list everybody. */
export const MOST_READ = 500;

/**
 * Hires of people by words of their name, by their e-mail address or employee number. The store has no names, so that
 * an erasure need not find them: the hiring platform is asked now, and the words are not kept. `people`: how many there
 * have these words; `isCut`: the platform found so many that the rest was not looked at.
 */
export async function findHiresByName(
  { store, tenant, connection }: OpenTenant,
  given: string,
): Promise<{ hires: HireRow[]; people: number; isCut: boolean }> {
  const words = given
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const longest = words.toSorted((a, b) => b.length - a.length)[0] ?? '';
  if (longest.length < LEAST) return { hires: [], people: 0, isCut: false };
  const candidates: string[] = [];
  let read = 0;
  // One word: whether a platform finds a whole name that it keeps in two fields is not specified.
  const query = { searchTerm: longest };
  for await (const { items } of connection.partner.pages(
    contract.candidates.list,
    { query },
    { priority: 'live', size: 100 },
  )) {
    for (const { id, firstName, lastName, email } of items) {
      const known = `${firstName ?? ''} ${lastName ?? ''} ${email ?? ''}`.toLowerCase();
      if (words.every((word) => known.includes(word))) candidates.push(String(id));
    }
    read += items.length;
    if (read >= MOST_READ) break;
  }
  const anyOf = { employee_number: [given.trim()], candidate_id: candidates };
  const hires = await findHires(store, { tenantIds: [tenant.tenant], anyOf });
  return { hires, people: candidates.length, isCut: read >= MOST_READ };
}
