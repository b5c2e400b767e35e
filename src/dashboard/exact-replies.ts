import type { Plugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { writeJson } from '../contract/json.ts';
import { valueIn } from './client/control-calls.ts';

/** Shows JSON replies with their exact digits: Swagger UI rounds integers beyond 2^53. */
export const exactReplies: Plugin = {
  wrapComponents: {
    responseBody: (original, { React, getComponent }) => {
      return (props) => {
        const text = indented(props);
        if (text === undefined) return React.createElement(original, props);
        const code = {
          language: 'json',
          downloadable: true,
          fileName: 'reply.json',
          canCopy: true,
        };
        return React.createElement(getComponent('HighlightCode', true), code, text);
      };
    },
  },
};

/** The JSON of a reply, indented; undefined if it is something else. */
function indented({ content, contentType }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof content !== 'string' || !/json/i.test(String(contentType))) return undefined;
  try {
    return writeJson(valueIn(content), 2);
  } catch {
    return undefined;
  }
}
