import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import SwaggerUI, { type Component, type System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { writeJson } from '../contract/json.ts';
import { STAGING_SANDBOX } from '../sandbox/sandbox-names.ts';
import { Frame } from './parts/frame.tsx';
import { Loading } from './parts/texts.tsx';
import { useResource } from './state/resource.ts';
import { controlToken, sandbox, valueIn } from './state/session.ts';

/** The two APIs: the path of the document, and the key that its scheme takes. */
const APIS = {
  service: {
    title: 'Service',
    document: '/service.openapi.json',
    scheme: 'apiKey',
    key: () => (sandbox === STAGING_SANDBOX ? 'staging-key' : 'demo-key'),
  },
  control: {
    title: 'Control API',
    document: '/openapi.json',
    scheme: 'controlToken',
    key: controlToken,
  },
} as const;

const shown = new URLSearchParams(location.search).get('api') === 'control' ? 'control' : 'service';

function Reference() {
  return (
    <Frame current="docs" title="API reference">
      <nav aria-label="References">
        {(['service', 'control'] as const).map((name) => (
          <a
            key={name}
            href={name === 'service' ? 'docs' : `docs?api=${name}`}
            aria-current={shown === name ? 'page' : undefined}
          >
            {APIS[name].title}
          </a>
        ))}
      </nav>
      <Operations />
    </Frame>
  );
}

/** The operations of the document, each with a form to try it. */
function Operations() {
  const { document: path, scheme, key } = APIS[shown];
  const document = useResource<object>(path);
  const place = useRef<HTMLDivElement>(null);
  const spec = document.value;
  useEffect(() => {
    if (spec === undefined || place.current === null) return;
    const ui = SwaggerUI({
      domNode: place.current,
      spec: withoutBigints(spec),
      plugins: [{ wrapComponents: { responseBody: exactReply } }],
      deepLinking: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      validatorUrl: null,
      onComplete: () => {
        const filledIn = key();
        if (filledIn !== undefined) ui.preauthorizeApiKey(scheme, filledIn);
      },
    });
  }, [spec]);
  return spec === undefined ? <Loading resource={document} /> : <div ref={place} />;
}

/** Drops the bounds of int64, which Swagger UI would round; the format implies them. */
function withoutBigints(spec: object): object {
  const text = JSON.stringify(spec, (_name, value: unknown) =>
    typeof value === 'bigint' ? undefined : value,
  );
  return JSON.parse(text);
}

/** Shows JSON replies with their exact digits: Swagger UI rounds integers beyond 2^53. */
function exactReply(original: Component, { React, getComponent }: System): Component {
  return (props) => {
    const { content } = props;
    try {
      // Other replies are no JSON, or none that can be read.
      const code = { language: 'json', downloadable: true, fileName: 'reply.json', canCopy: true };
      const text = writeJson(valueIn(String(content)), 2);
      return React.createElement(getComponent('HighlightCode', true), code, text);
    } catch {
      return React.createElement(original, props);
    }
  };
}

// A class turns on Swagger UI's dark colours.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
render(<Reference />, document.body);
