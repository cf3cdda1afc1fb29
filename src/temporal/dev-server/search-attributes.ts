/** The search attributes of our workflows and their types. Ids and fixed words only: they are stored in the clear. */
export const searchAttributes = { TenantId: 'Keyword', Flow: 'Keyword', Stage: 'Keyword' } as const;
