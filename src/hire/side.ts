/** Whose records: the hiring platform's or the HR system's. */
export type Side = 'partner' | 'hris';
