/**
 * One user's right to a model, which stays in memory until the lease is disposed of: `using lease = await ...lease()`.
 * Nothing else has the model.
 */
export interface Lease<Model> extends Disposable {
  readonly model: Model;
}
