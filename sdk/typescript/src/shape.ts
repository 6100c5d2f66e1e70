/**
 * The fields without which a response is of no use to a caller. A field has one of these types, or is itself an object
 * or a list with a shape. Other fields are not checked, because a server may add some.
 */
export type Shape = {
  readonly [name: string]:
    | 'text'
    | 'string'
    | 'number'
    | 'boolean'
    | 'true'
    | 'time'
    | 'object'
    | Shape
    | readonly [Shape];
};

/** Returns the path of the first field that does not have its shape, "" for the value itself, and null if all have. */
export function mismatch(value: unknown, shape: Shape): string | null {
  if (!isObject(value)) return '';
  for (const [name, expected] of Object.entries(shape)) {
    const path = fieldMismatch(value[name], expected);
    if (path !== null) return `${name}${path}`;
  }
  return null;
}

function fieldMismatch(value: unknown, expected: Shape[string]): string | null {
  if (typeof expected === 'string') return hasType(value, expected) ? null : '';
  if (isList(expected)) {
    if (!Array.isArray(value)) return '';
    for (const [index, item] of value.entries()) {
      const path = mismatch(item, expected[0]);
      if (path !== null) return `[${index}]${path && `.${path}`}`;
    }
    return null;
  }
  const path = mismatch(value, expected);
  return path === null ? null : path && `.${path}`;
}

function hasType(value: unknown, type: Extract<Shape[string], string>): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string' && value !== '';
    case 'time':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
    case 'true':
      return value === true;
    case 'object':
      return isObject(value);
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(shape: Shape | readonly [Shape]): shape is readonly [Shape] {
  return Array.isArray(shape);
}
