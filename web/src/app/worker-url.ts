// Addresses of workers. The content security policy allows only those that this policy has passed, and one policy.

interface TrustedTypePolicyFactory {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): typeof policy;
}
let policy: { createScriptURL(address: string): unknown } | undefined;

export function trusted(url: string): string {
  const types = (window as { trustedTypes?: TrustedTypePolicyFactory }).trustedTypes;
  policy ??= types?.createPolicy("plosive", {
    createScriptURL: (address: string) => {
      if (new URL(address, document.baseURI).origin === window.location.origin) return address;
      throw new TypeError("a worker of another origin");
    },
  });
  return (policy?.createScriptURL(url) ?? url) as string;
}
