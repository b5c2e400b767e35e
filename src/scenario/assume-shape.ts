import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  type Choices,
  isOption,
  optionNames,
  optionPattern,
} from '../contract/assumption-table.ts';
import { isTrusted, type Member, object, optional } from '../shape/objects.ts';
import { convert, type Shape, scalar, withInput } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';

function optionMember(id: AssumptionId): Member<string> {
  const { question, options } = assumptionShape(id);
  const names = optionNames(id);
  const unquoted = names.filter((name) => /^(?:\d+|null)$/.test(name)).map((it) => JSON.parse(it));
  const meanings = options.map(({ name, meaning }) => `${name}: ${meaning}`).join('; ');
  const shape = scalar(
    id === 'rate-limit' ? 'none, or a rate such as 10/s or 600/m' : joinWords(names, 'or'),
    id === 'rate-limit'
      ? { type: 'string', examples: names, pattern: `^${optionPattern(id)}$` }
      : { type: ['string', 'number', 'null'], enum: [...names, ...unquoted] },
    (value) => {
      // YAML and JSON read some options as another type without quotes.
      const option = typeof value === 'number' || value === null ? String(value) : value;
      return typeof option === 'string' && isOption(id, option) ? option : undefined;
    },
    names,
  );
  return optional(shape, `${question} ${meanings}.`);
}

export const ASSUME: Shape<Partial<Choices>, Partial<Choices>> = withInput(
  convert(
    object<Readonly<Record<string, Member<string>>>>(
      Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, optionMember(id)])),
      {
        expected: 'an object of options by assumption',
        expectedName: 'an assumption that "petstore-mock assumptions" lists',
      },
    ),
    (assume) => (isTrusted<Partial<Choices>>(assume) ? assume : undefined),
  ),
);
