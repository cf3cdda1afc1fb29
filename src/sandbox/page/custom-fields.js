import { actButton } from './acts.js';
import { card, make, table } from './dom.js';

/** What each type of custom field is entered as. */
const SHAPES = {
  text: () => ({ type: 'string' }),
  textarea: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  date: () => ({ type: 'string', format: 'date' }),
  select: (options) => ({ type: 'string', enum: options }),
  'multi-select': (options) => ({ type: 'array', items: { enum: options } }),
  checkbox: () => ({ type: 'boolean' }),
};

/** The custom fields of a job or candidate, each with a button to set it. */
export function customFieldCard(entityType, entityId, fields) {
  const read = fields.map(withValue);
  const rows = read.map((field) => ({ cells: [field.label, told(field.value), setButton(field)] }));
  const more = actButton('New custom field', 'createCustomField', { given: { entityType } });
  return card(
    'Custom fields',
    table(['Field', 'Value', 'Actions'], rows, 'None is defined.'),
    make('div', { className: 'actions' }, more),
  );

  function setButton({ id, label, fieldType, options, value }) {
    const button = actButton('Set', 'setCustomFieldValue', {
      given: { customFieldId: id, entityType, entityId },
      ask: ['value'],
      preset: { value: value ?? undefined },
      shapes: { value: SHAPES[fieldType](options ?? []) },
      tone: 'quiet',
    });
    button.setAttribute('aria-label', `Set ${label}`);
    return button;
  }
}

/** Several options are kept as the JSON text of a list. */
function withValue(field) {
  const isList = field.fieldType === 'multi-select' && typeof field.value === 'string';
  return isList ? { ...field, value: JSON.parse(field.value) } : field;
}

function told(value) {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
