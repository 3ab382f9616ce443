import type { PageLine } from './pdf-lines.js';

/** What pdf.js says of a field of a form, or of a note on a page. */
export interface FormField {
  subtype?: unknown;
  fieldType?: unknown;
  fieldName?: unknown;
  alternativeText?: unknown;
  fieldValue?: unknown;
  buttonValue?: unknown;
  exportValue?: unknown;
  radioButton?: unknown;
  checkBox?: unknown;
  password?: unknown;
  contentsObj?: { str?: unknown };
}

/** Fields of a page that are read. */
const mostFields = 5000;

const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() : '');

/** The filled fields of a page, "name: value", and the texts that were written on it. */
export function formLines(fields: readonly FormField[]): PageLine[] {
  const lines = fields.slice(0, mostFields).map(lineOf);
  return lines.filter((text) => text !== '').map((text, at) => ({ text, isApart: at === 0 }));
}

function lineOf(field: FormField): string {
  if (field.subtype === 'FreeText') return textOf(field.contentsObj?.str);
  if (field.subtype !== 'Widget' || field.password === true) return '';
  const value = filledValue(field);
  // The last part of a name such as "form[0].page[0].city[0]".
  const name = textOf(field.fieldName)
    .split('.')
    .at(-1)
    ?.replace(/\[\d+\]$/, '');
  const label = textOf(field.alternativeText) || name;
  return value === '' || !label ? value : `${label}: ${value}`;
}

function filledValue({
  fieldType,
  fieldValue,
  radioButton,
  checkBox,
  buttonValue,
  exportValue,
}: FormField): string {
  if (fieldType === 'Tx' || fieldType === 'Ch')
    return Array.isArray(fieldValue) ? fieldValue.map(textOf).filter(Boolean).join(', ') : textOf(fieldValue);
  const isOn = fieldValue === (checkBox === true ? exportValue : buttonValue) && textOf(fieldValue) !== '';
  return fieldType === 'Btn' && (radioButton === true || checkBox === true) && isOn ? textOf(fieldValue) : '';
}
