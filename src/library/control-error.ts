/** An Error that the control API answered with. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly status: number;
  readonly code: string;
  /** The request, such as `GET http://127.0.0.1:4010/__mock/orders/99`. */
  readonly call: string;

  constructor(status: number, code: string, message: string, call: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.call = call;
  }
}
