/** Side that holds a record: the hiring platform or the HR system. */
export type Side = 'partner' | 'hris';
