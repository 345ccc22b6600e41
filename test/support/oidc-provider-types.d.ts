// The parts of the package oidc-provider that oidc-provider.ts uses. The package has no types.
declare module "oidc-provider" {
  type Http = typeof import("node:http");
  type Request = InstanceType<Http["IncomingMessage"]>;
  type Response = InstanceType<Http["ServerResponse"]>;

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }
  export interface Context {
    readonly path: string;
    status: number;
    body: unknown;
    readonly oidc: {
      readonly client: { readonly clientId: string };
      readonly session: { readonly accountId: string };
      readonly provider: { readonly Grant: new (of: { clientId: string; accountId: string }) => Grant };
    };
  }
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: Request, response: Response) => void;
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
    interactionFinished(
      request: Request,
      response: Response,
      result: object,
      options?: object,
    ): Promise<void>;
  }
}
