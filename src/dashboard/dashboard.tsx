import { render } from 'preact';
import { Shell } from './shell.tsx';

render(<Shell />, document.body);
