/** Form of a field without a value. */
export const EMPTY_FORM = '';
