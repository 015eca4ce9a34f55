// SPDX-License-Identifier: MIT

// receiver takes what profilers push and tells what it got: Pyroscope's push API by Pyroscope's own
// generated code (github.com/grafana/pyroscope/api, Connect in JSON or protobuf), Parca's WriteRaw
// as its HTTP gateway takes it. Each profile is read and checked by google/pprof, and by the rules
// that servers add: ids are 1..n in table order, at most 16,000 samples and 4 MiB.
//
//	receiver [FAIL]
//
// prints its port, then a line of JSON for each profile. The first FAIL requests get status 503.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

const (
	samplesMax = 16000
	sizeMax    = 4 << 20
)

type line struct {
	API      string            `json:"api"`
	Labels   map[string]string `json:"labels"`
	Error    string            `json:"error,omitempty"`
	Samples  int               `json:"samples"`
	Size     int               `json:"size"`
	Values   map[string]int64  `json:"values"`
	Series   []string          `json:"series"`
	Keys     []string          `json:"keys"`
	Self     map[string]int64  `json:"self"`
	Duration int64             `json:"duration"`
	Header   string            `json:"header,omitempty"`
}

var printing sync.Mutex

func inflated(raw []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func areSequential(found *profile.Profile) error {
	for i, row := range found.Mapping {
		if row.ID != uint64(i+1) {
			return errors.New("ids of mappings are not 1..n")
		}
	}
	for i, row := range found.Function {
		if row.ID != uint64(i+1) {
			return errors.New("ids of functions are not 1..n")
		}
	}
	for i, row := range found.Location {
		if row.ID != uint64(i+1) {
			return errors.New("ids of locations are not 1..n")
		}
	}
	return nil
}

func count(found *profile.Profile, to *line) {
	series, keys := map[string]bool{}, map[string]bool{}
	for _, sample := range found.Sample {
		name := fmt.Sprint(sample.Label)
		if !series[name] {
			series[name] = true
			to.Series = append(to.Series, name)
		}
		for key := range sample.Label {
			keys[key] = true
		}
		for i, value := range sample.Value {
			to.Values[found.SampleType[i].Type] += value
		}
		if len(sample.Location) > 0 && len(sample.Location[0].Line) > 0 {
			to.Self[sample.Location[0].Line[0].Function.Name] += sample.Value[0]
		}
	}
	for key := range keys {
		to.Keys = append(to.Keys, key)
	}
}

// examine prints what RAW is; an error is what a server would refuse it for.
func examine(api string, labels map[string]string, header string, raw []byte) error {
	told := line{API: api, Labels: labels, Header: header, Values: map[string]int64{}, Self: map[string]int64{}}
	plain, err := inflated(raw)
	told.Size = len(plain)
	var found *profile.Profile
	if err == nil {
		found, err = profile.ParseData(raw)
	}
	if err == nil {
		err = found.CheckValid()
	}
	if err == nil {
		told.Samples, told.Duration = len(found.Sample), found.DurationNanos
		count(found, &told)
		err = areSequential(found)
	}
	if err == nil && (told.Samples > samplesMax || told.Size > sizeMax) {
		err = fmt.Errorf("%d samples, %d bytes", told.Samples, told.Size)
	}
	if err != nil {
		told.Error = err.Error()
	}
	text, _ := json.Marshal(told)
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
	return err
}

type pusher struct {
	pushv1connect.UnimplementedPusherServiceHandler
}

func (pusher) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range request.Msg.Series {
		labels := map[string]string{}
		for _, label := range series.Labels {
			labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if err := examine("pyroscope", labels, request.Header().Get("Authorization"), sample.RawProfile); err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

// What parca.profilestore.v1alpha1.WriteRawRequest is in JSON.
type writeRaw struct {
	Series []struct {
		Labels struct {
			Labels []struct{ Name, Value string }
		}
		Samples []struct{ RawProfile []byte }
	}
	Normalized bool
}

func takeParca(answer http.ResponseWriter, request *http.Request) {
	var got writeRaw
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&got)
	for _, series := range got.Series {
		labels := map[string]string{}
		for _, label := range series.Labels.Labels {
			labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if err == nil {
				err = examine("parca", labels, request.Header.Get("Authorization"), sample.RawProfile)
			}
		}
	}
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(answer, "{}")
}

// failing answers the first LEFT requests with 503.
func failing(left int, next http.Handler) http.Handler {
	var counting sync.Mutex
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		counting.Lock()
		fails := left > 0
		if fails {
			left--
		}
		counting.Unlock()
		if fails {
			answer.Header().Set("Retry-After", "1")
			http.Error(answer, "not yet", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(answer, request)
	})
}

func main() {
	left := 0
	if len(os.Args) > 1 {
		left, _ = strconv.Atoi(os.Args[1])
	}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	mux.HandleFunc("/api/profiles/writeraw", takeParca)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	fmt.Fprintln(os.Stderr, http.Serve(listener, failing(left, mux)))
	os.Exit(1)
}
