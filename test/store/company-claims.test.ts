import { describe, expect, test } from 'vitest';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { type CompanyPerson, claimInCompany, readStanding } from '../../src/store/company-claims.ts';
import { insertHires } from '../../src/store/hires.ts';
import { releaseClaim, takeClaim } from '../../src/store/identity.ts';
import { importLinks } from '../../src/store/imported-links.ts';
import type { Store } from '../../src/store/open-store.ts';
import { freshStore, kinds } from './stores.ts';

const acme: CompanyPerson = {
  connection: 'acme-hr',
  partnerCompany: '17',
  candidateId: '88',
  environment: 'production',
  origin: 'https://partner.example',
};
const beta: CompanyPerson = { ...acme, connection: 'beta-hr' };
const far: CompanyPerson = { ...acme, connection: 'far-hr', origin: 'https://far.example' };

/** Tenants of company 17, each with an open hire; `trial` is of company 17 of the sandbox, `far` of another server. */
async function withHires(store: Store) {
  const tenants = { acme: 'production', beta: 'production', trial: 'sandbox', far: 'production' } as const;
  for (const [tenantId, environment] of Object.entries(tenants)) {
    const origin = tenantId === 'far' ? far.origin : acme.origin;
    const receives = { environment, origin, webhooks: 'off' as const, webhookKeys: [], company: '17' };
    const definition = { tenantId, file: 'f', files: {}, receives, over: null, changes: [] };
    await applyDefinitions(store, [definition], 'ada');
  }
  const refOf = (tenantId: keyof typeof tenants) => ({ tenantId, jobCandidateId: `of-${tenantId}`, period: 1 });
  const refs = { acme: refOf('acme'), beta: refOf('beta'), trial: refOf('trial'), far: refOf('far') };
  await insertHires(
    store,
    Object.values(refs).map((ref) => ({ ...ref, state: 'open' as const })),
  );
  return refs;
}

describe.each(kinds)('the claim on a person in all HR systems of a company, on %s', (kind) => {
  test('is the first tenant’s; another one hears whose it is, until it is released', async () => {
    const { store } = await freshStore(kind);
    const refs = await withHires(store);
    expect(await claimInCompany(store, acme, refs.acme)).toBeUndefined();
    expect(await claimInCompany(store, acme, refs.acme)).toBeUndefined();
    expect(await claimInCompany(store, beta, refs.beta)).toEqual(refs.acme);
    await releaseClaim(store, refs.acme);
    expect(await claimInCompany(store, beta, refs.beta)).toBeUndefined();
    expect(await claimInCompany(store, acme, refs.acme)).toEqual(refs.beta);
  });

  test('is one tenant’s when two ask at once', async () => {
    const { store, other } = await freshStore(kind);
    const refs = await withHires(store);
    const answers = await Promise.all([claimInCompany(store, acme, refs.acme), claimInCompany(other, beta, refs.beta)]);
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
  });

  test('counts for nobody of a company with the same number in another environment or at another server', async () => {
    const { store } = await freshStore(kind);
    const refs = await withHires(store);
    await claimInCompany(store, acme, refs.acme);
    await takeClaim(store, acme, refs.acme);
    const trial: CompanyPerson = { ...acme, connection: 'trial-hr', environment: 'sandbox' };
    expect(await claimInCompany(store, trial, refs.trial)).toBeUndefined();
    expect(await claimInCompany(store, far, refs.far)).toBeUndefined();
  });

  test('leaves whoever is known in the own HR system to the claims and links there', async () => {
    const { store } = await freshStore(kind);
    const refs = await withHires(store);
    await claimInCompany(store, acme, refs.acme);
    await takeClaim(store, beta, refs.beta);
    expect(await readStanding(store, beta, 'beta')).toBe('ours');
  });

  test('is not given where another tenant has an imported link, or a claim in its own HR system alone', async () => {
    const { store } = await freshStore(kind);
    const refs = await withHires(store);
    await takeClaim(store, acme, refs.acme);
    expect(await claimInCompany(store, beta, refs.beta)).toEqual(refs.acme);
    const person = { ...acme, candidateId: '99' };
    const act = { tenantId: 'acme', by: 'ada', details: '' };
    await importLinks(store, act, [{ person, employee: { id: 'E7', number: null } }]);
    const imported = { tenantId: 'acme', jobCandidateId: '', period: 0 };
    expect(await claimInCompany(store, { ...beta, candidateId: '99' }, refs.beta)).toEqual(imported);
    expect(await readStanding(store, { ...beta, candidateId: '100' }, 'beta')).toBe('free');
  });
});
