module receiver

go 1.19

require (
	connectrpc.com/connect v1.14.0
	github.com/google/pprof v0.0.0-20240227163752-401108e1b7e7
	github.com/grafana/pyroscope/api v0.4.0
)

require (
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/gorilla/mux v1.8.0 // indirect
	golang.org/x/net v0.19.0 // indirect
	golang.org/x/sys v0.15.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20231120223509-83a465c0220f // indirect
	google.golang.org/grpc v1.59.0 // indirect
	google.golang.org/protobuf v1.32.0 // indirect
)
