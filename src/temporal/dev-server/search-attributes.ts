/** Search attributes of our workflows, with types. Ids and fixed words only, because they are not encrypted. */
export const searchAttributes = { TenantId: 'Keyword', Flow: 'Keyword', Stage: 'Keyword' } as const;
