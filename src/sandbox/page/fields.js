import { fieldLabel, make, words } from './dom.js';
import { manyPicker, pickedFrom, picker } from './picker.js';

const LONG = /description|summary|reason|letter|purpose|question$/i;
const INPUT_TYPES = { date: 'date', email: 'email', uri: 'url', e164: 'tel' };

/**
 * One field by its JSON Schema: `element` to show, `value()` what was entered, undefined when nothing was. `preset` is
 * what stands there at first, `from` the list that a picker takes its records from.
 */
function field(name, schema, { required, preset, from }) {
  const simple = simplified(schema);
  const facts = { name, schema: simple, required, preset: preset ?? simple.default, from };
  const draw = KIND_OF.find(([is]) => is(facts))?.[1] ?? textField;
  return draw(facts);
}

/** Of several forms allowed, the one a person fills in; null is said by leaving the field empty. */
function simplified(schema) {
  const forms = schema.anyOf?.filter((one) => one.type !== 'null');
  if (forms === undefined) {
    const type = schema.type?.includes('string') ? 'string' : [schema.type].flat()[0];
    return { ...schema, type };
  }
  const list = forms.find((one) => one.items?.enum) ?? forms.find((one) => one.type === 'object');
  const chosen = list ?? forms[0];
  const isListToo = forms.some((one) => one.type === 'array' && one !== chosen);
  return { ...chosen, default: schema.default, isListToo, isNullable: forms.length < schema.anyOf.length };
}

const KIND_OF = [
  [({ from, schema }) => from !== undefined && schema.type === 'array', manyPickerField],
  [({ from, schema }) => from !== undefined && schema.type !== 'object', pickerField],
  [({ schema }) => schema.type === 'boolean' || schema.enum !== undefined, choiceField],
  [({ schema }) => schema.type === 'array' && schema.items.enum !== undefined, choicesField],
  [({ schema }) => schema.type === 'array' && schema.items.type === 'object', rowsField],
  [({ schema }) => schema.type === 'array', linesField],
  [({ schema }) => schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0, groupField],
  [({ schema }) => schema.type === 'object', pairsField],
  [({ schema }) => schema.type === 'integer' || schema.type === 'number', numberField],
];

function labelled(name, required, ...content) {
  const mark = required ? make('span', { className: 'required' }, ' required') : '';
  return make('label', {}, make('span', {}, fieldLabel(name), mark), ...content);
}

function pickerField({ name, required, from }) {
  const { element, value } = picker(from, { required });
  return { element: labelled(name, required, ...element), value };
}

function manyPickerField({ name, required, from }) {
  const { element, value } = manyPicker(from, { required });
  return { element: labelled(name, required, ...element), value };
}

function choiceField({ name, schema, required, preset }) {
  const choices = schema.enum ?? [true, false];
  const shown = (choice) => (typeof choice === 'boolean' ? (choice ? 'Yes' : 'No') : words(choice));
  const options = choices.map((one) =>
    make('option', { value: JSON.stringify(one), selected: one === preset }, shown(one)),
  );
  if (preset === undefined && !required) options.unshift(make('option', { value: '' }, ''));
  const select = make('select', {}, ...options);
  return {
    element: labelled(name, required, select),
    value: () => (select.value === '' ? undefined : JSON.parse(select.value)),
  };
}

function choicesField({ name, schema, preset = [] }) {
  const boxes = schema.items.enum.map((one) =>
    make('input', { type: 'checkbox', value: one, checked: preset.includes(one) }),
  );
  const lines = boxes.map((box) => make('label', { className: 'inline' }, box, words(box.value)));
  return {
    element: make('fieldset', {}, make('legend', {}, fieldLabel(name)), ...lines),
    value: () => boxes.filter((box) => box.checked).map((box) => box.value),
  };
}

/** A list of texts, one a line, or of numbers with commas between them. */
function linesField({ name, schema, required, preset = [] }) {
  const numbers = schema.items.type === 'integer';
  const separator = numbers ? /[\s,]+/ : /\n/;
  const value = preset.join(numbers ? ', ' : '\n');
  const input = numbers
    ? make('input', { type: 'text', value, required })
    : make('textarea', { rows: 3, value, required });
  const hint = make('span', { className: 'hint' }, numbers ? 'with commas between them' : 'one a line');
  const read = () => input.value.split(separator).filter((one) => one.trim() !== '');
  return {
    element: labelled(name, required, input, hint),
    value: () => (read().length === 0 ? undefined : read().map((one) => (numbers ? Number(one) : one.trim()))),
  };
}

function numberField({ name, schema, required, preset }) {
  if (schema.isListToo) return numbersField({ name, required });
  const step = schema.type === 'integer' ? 1 : 'any';
  const bounds = { min: bound(schema.minimum), max: bound(schema.maximum) };
  const input = make('input', { type: 'number', step, value: preset ?? '', required, ...bounds });
  return {
    element: labelled(name, required, input),
    value: () => (input.value === '' ? undefined : Number(input.value)),
  };
}

function bound(limit) {
  return Math.abs(limit ?? Infinity) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

function numbersField(facts) {
  return linesField({ ...facts, schema: { items: { type: 'integer' } } });
}

function textField({ name, schema, required, preset }) {
  if (schema.format === 'date-time') return instantField({ name, required });
  const isLong = LONG.test(name) && schema.format === undefined && (schema.maxLength ?? 1000) > 200;
  const value = Array.isArray(preset) ? preset.join(', ') : String(preset ?? '');
  const type = INPUT_TYPES[schema.format] ?? (/email/i.test(name) ? 'email' : 'text');
  const input = isLong ? make('textarea', { rows: 2, value, required }) : make('input', { type, value, required });
  const typed = () => (schema.type === 'string' ? input.value : asWritten(input.value));
  return { element: labelled(name, required, input), value: () => (input.value === '' ? undefined : typed()) };
}

function instantField({ name, required }) {
  const input = make('input', { type: 'datetime-local', required });
  const value = () => (input.value === '' ? undefined : new Date(`${input.value}Z`).toISOString());
  return { element: labelled(name, required, input, make('span', { className: 'hint' }, 'UTC')), value };
}

/** Several fields that belong together. */
function groupField({ name, schema, required, preset = {} }) {
  const group = groupOf(schema, preset);
  const value = () => {
    const values = group.value();
    return Object.keys(values).length === 0 && !required ? undefined : values;
  };
  return { element: make('fieldset', {}, make('legend', {}, fieldLabel(name)), group.element), value };
}

const FEW = 8;
const MAIN = /^(firstName|lastName|email|phone|title|currentJobTitle|city|country|workMode|description|status|name)$/;

/** Fields side by side; of very many only those that matter first, the others a click away. */
export function laidOut(fields, required = [], areAllMain = false) {
  const single = fields.length === 1 && fields[0][1].element;
  // One group alone needs no frame around it, and its name says nothing that the title does not.
  if (single?.tagName === 'FIELDSET') single.className = 'bare';
  const isMain = ([name]) => areAllMain || fields.length <= FEW || required.includes(name) || MAIN.test(name);
  const grid = (some) => make('div', { className: 'grid' }, ...some.map(([, one]) => one.element));
  const others = fields.filter((one) => !isMain(one));
  const more = others.length > 0 && make('details', {}, make('summary', {}, 'More fields'), grid(others));
  return make('div', {}, grid(fields.filter(isMain)), more);
}

/** The fields of an object: those required first. */
export function fieldsOf({ properties = {}, required = [] }, preset = {}, lists = {}) {
  return Object.entries(properties)
    .toSorted(([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)))
    .map(([name, one]) => {
      const facts = { required: required.includes(name), preset: preset[name], from: pickedFrom(name, lists) };
      return [name, field(name, one, facts)];
    });
}

export function valuesOf(fields) {
  return Object.fromEntries(
    fields.map(([name, one]) => [name, one.value()]).filter(([, value]) => value !== undefined),
  );
}

/** A list of records: each a group of its own, added and taken away by buttons. */
function rowsField({ name, schema, required, preset }) {
  const rows = new Set();
  const list = make('div', { className: 'rows' });
  const isFree = Object.keys(schema.items.properties ?? {}).length === 0;

  function add(given = {}) {
    const row = isFree ? pairsField({ name: 'fields', preset: given }) : groupOf(schema.items, given);
    const remove = () => {
      rows.delete(row);
      box.remove();
    };
    const button = make('button', { type: 'button', className: 'quiet', onclick: remove }, 'Remove');
    const box = make('div', { className: 'row' }, row.element, button);
    rows.add(row);
    list.append(box);
  }

  for (const one of Array.isArray(preset) ? preset : required ? [{}] : []) add(one);
  const more = make('button', { type: 'button', className: 'quiet', onclick: () => add() }, 'Add one');
  return {
    element: make('fieldset', {}, make('legend', {}, fieldLabel(name)), list, more),
    value: () => (rows.size === 0 ? undefined : [...rows].map((row) => row.value() ?? {})),
  };
}

function groupOf(schema, preset) {
  const fields = fieldsOf(schema, preset);
  return { element: laidOut(fields, schema.required), value: () => valuesOf(fields) };
}

/** Fields that nobody named beforehand: a name and a value a line. */
function pairsField({ name, preset }) {
  const lines = make('div', { className: 'rows' });
  const add = (key = '', value = '') =>
    lines.append(
      make(
        'div',
        { className: 'pair' },
        make('input', { type: 'text', placeholder: 'name', 'aria-label': 'Name', value: key }),
        make('input', { type: 'text', placeholder: 'value', 'aria-label': 'Value', value: written(value) }),
      ),
    );
  for (const [key, value] of Object.entries(preset ?? {})) if (value !== null) add(key, value);
  const more = make('button', { type: 'button', className: 'quiet', onclick: () => add() }, 'Add a field');
  const entries = () =>
    [...lines.children].map((line) => [...line.querySelectorAll('input')].map((input) => input.value.trim()));
  return {
    element: make('fieldset', {}, make('legend', {}, fieldLabel(name)), lines, more),
    value: () => {
      const named = entries().filter(([key]) => key !== '');
      return named.length === 0 ? undefined : Object.fromEntries(named.map(([key, text]) => [key, asWritten(text)]));
    },
  };
}

function written(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A number, true, or a list where the text is one; otherwise the text itself. */
function asWritten(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
