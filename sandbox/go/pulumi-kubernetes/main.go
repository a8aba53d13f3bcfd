// The Kubernetes provider of Pulumi, served without its generated schema: the engine needs it only for programs in YAML and other schema languages.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// version is that of the Python SDK, which asks for it by name.
const version = "4.34.2"

func main() {
	provider.Serve("kubernetes", version, []byte("{}"), []byte("{}"))
}
