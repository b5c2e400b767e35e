import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { STAGING_SANDBOX } from '../sandbox/sandbox-names.ts';
import { exactReplies } from './exact-replies.ts';
import { Frame } from './parts/frame.tsx';
import { Loading } from './parts/loading.tsx';
import { useResource } from './state/resource.ts';
import { controlToken, sandbox } from './state/session.ts';

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
        <a href="docs" aria-current={shown === 'service' ? 'page' : undefined}>
          {APIS.service.title}
        </a>
        <a href="docs?api=control" aria-current={shown === 'control' ? 'page' : undefined}>
          {APIS.control.title}
        </a>
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
      plugins: [exactReplies],
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

/** A class turns on Swagger UI's dark colours. */
function followColorScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
}

followColorScheme();
render(<Reference />, document.body);
